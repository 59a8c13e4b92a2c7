"""The sections of the configuration but the streams: their bounds, and one line for a value that is out of them."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.predicate import Limits
from asc.predicate.limits import MAX_NESTING_DEPTH
from broker.config.config import load_config, parse_config
from broker.config.sections import REQUEST_BYTES, TOPIC_FORM, ApiConfig, KafkaConfig
from broker.errors import ConfigError

WRONG: list[tuple[str, str, Any, str]] = [
    ("kafka", "bootstrap_servers", "a", "write host:port, several separated by commas"),
    ("kafka", "bootstrap_servers", "", "write host:port"),
    ("kafka", "bootstrap_servers", "a:1,", "write host:port"),
    ("kafka", "bootstrap_servers", "::1:9092", "write host:port"),
    ("kafka", "registry_topic", "a b", "use 1 to 249 of"),
    ("kafka", "registry_topic", "..", "use 1 to 249 of"),
    ("kafka", "registry_topic", "x" * 250, "use 1 to 249 of"),
    ("kafka", "registry_topic", "queries\n", "use 1 to 249 of"),
    ("kafka", "registry_topic", 7, "give a text"),
    ("kafka", "partitions", 0, "give a number from 1 on"),
    ("kafka", "partitions", 1.0, "give an integer"),
    ("kafka", "replication_factor", -2, "give a number from -1 on"),
    ("kafka", "allow_topic_creation", "no", "give true or false"),
    ("kafka", "timeout_s", 0, "give a number above 0"),
    ("kafka", "timeout_s", math.inf, "give a finite number"),
    ("kafka", "timeout_s", math.nan, "give a finite number"),
    ("api", "port", "http", "give an integer"),
    ("api", "port", 70000, "give a number of at most 65535"),
    ("api", "max_body_bytes", 1023, "give a number from 1024 on"),
    ("spark", "driver_memory", "2 gigs", "write a whole number and m or g"),
    ("spark", "driver_memory", "0g", "write a whole number and m or g"),
    ("spark", "driver_memory", "1g\n", "write a whole number and m or g"),
    ("spark", "time_zone", "Mars/X", "use a name of the time zone database"),
    ("spark", "time_zone", "../../etc/passwd", "use a name of the time zone database"),
    ("spark", "max_records_per_batch", 0, "give a number from 1 on"),
    ("limits", "nesting_depth", MAX_NESTING_DEPTH + 1, f"give a number of at most {MAX_NESTING_DEPTH}"),
    ("limits", "conjuncts", 0, "give a number from 1 on"),
    ("limits", "spark_attributes", -1, "give a number from 0 on"),
    ("monitor", "mu", -0.1, "give a number from 0 on"),
    ("monitor", "mu", "much", "give a number"),
    ("monitor", "mu", math.inf, "give a finite number"),
    ("monitor", "lambda_tuples", 0, "give a number from 1 on"),
    ("monitor", "lambda_tuples", "5000", "give an integer"),
    ("monitor", "tau_tuples", 0, "give a number from 1 on"),
    ("monitor", "sample_tuples", 0, "give a number from 1 on"),
    ("monitor", "sample_tuples", 100_001, "give a number of at most 100000"),
    ("monitor", "sample_tuples", True, "give an integer"),
    ("monitor", "max_core_share", 0, "give a number above 0"),
    ("monitor", "max_core_share", 1.5, "give a number of at most 1"),
    ("monitor", "mode", "eager", "give 'sampled' or 'periodic'"),
    ("monitor", "triggers", "cost", 'write a list, as ["cost"]'),
    ("monitor", "triggers", ["cost", "cost"], "name each trigger once"),
    ("monitor", "enabled", "no", "give true or false"),
]


@pytest.mark.parametrize(
    ("section", "key", "value", "said"), WRONG, ids=[f"{key}={value!r:.20}" for _, key, value, _ in WRONG]
)
def test_a_wrong_value_is_named_with_its_key(section: str, key: str, value: Any, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config({section: {key: value}})
    assert str(caught.value).startswith(f"configuration key {section}.{key} {value!r}: {said}")
    assert "\n" not in str(caught.value)


def test_a_trigger_that_is_none_is_named_by_its_place() -> None:
    with pytest.raises(ConfigError, match=r"configuration key monitor\.triggers\.0 'luck'"):
        parse_config({"monitor": {"triggers": ["luck"]}})


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("kafka", "bootstrap_servers", "one:9092, two:9092"),
        ("kafka", "bootstrap_servers", "[::1]:9092"),
        ("kafka", "registry_topic", "x" * 249),
        ("kafka", "replication_factor", -1),
        ("kafka", "timeout_s", 1),
        ("api", "port", 0),
        ("api", "port", 65535),
        ("spark", "driver_memory", "512M"),
        ("spark", "time_zone", "Europe/Oslo"),
        ("limits", "nesting_depth", MAX_NESTING_DEPTH),
        ("limits", "spark_attributes", 0),
        ("monitor", "mu", 0.0),
        ("monitor", "max_core_share", 1.0),
        ("monitor", "sample_tuples", 100_000),
    ],
)
def test_a_value_at_its_bound_is_taken_as_it_is(section: str, key: str, value: Any) -> None:
    assert getattr(getattr(parse_config({section: {key: value}}), section), key) == value


def test_triggers_are_none_or_some() -> None:
    for triggers in ([], ["cost"], ["cost", "dropping_ratio"]):
        assert parse_config({"monitor": {"triggers": triggers}}).monitor.triggers == tuple(triggers)


def test_the_limits_of_a_predicate_are_those_of_the_engine() -> None:
    limits = load_config(None).limits
    assert Limits(limits.length_chars, limits.nesting_depth, limits.conjuncts) == Limits()


def test_the_limits_of_a_predicate_are_handed_to_the_engine() -> None:
    limits = parse_config({"limits": {"length_chars": 7, "nesting_depth": 5, "conjuncts": 3}}).limits
    assert limits.of_predicates() == Limits(length_chars=7, nesting_depth=5, conjuncts=3)


@pytest.mark.parametrize(
    ("host", "is_loopback"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("[::1]", True),
        ("0.0.0.0", False),
        ("::", False),
        ("", False),
        ("10.0.0.1", False),
        ("localhost.example", False),
        ("127.0.0.1.example", False),
    ],
)
def test_only_this_machine_is_loopback(host: str, is_loopback: bool) -> None:
    assert ApiConfig(host=host).is_loopback is is_loopback


@pytest.mark.parametrize(
    ("options", "request_bytes"),
    [
        ({}, REQUEST_BYTES),
        ({"max.request.size": 5_000}, 5_000),
        ({"buffer.memory": "6000"}, 6_000),
        ({"max.request.size": 7_000, "buffer.memory": 6_000}, 6_000),
        ({"max.request.size": 1 << 30}, 2 * REQUEST_BYTES),
    ],
)
def test_a_record_is_no_larger_than_a_request_and_what_the_client_buffers(
    options: dict[str, Any], request_bytes: int
) -> None:
    assert KafkaConfig(options=options).request_bytes == request_bytes


@pytest.mark.parametrize("size", ["1 MB", "999", "0", "-5000", "5e6", "", "5000\n", "٥٠٠٠"])
def test_a_size_that_is_no_number_of_bytes_is_named(size: str) -> None:
    with pytest.raises(ConfigError) as caught:
        _ = KafkaConfig(options={"max.request.size": size}).request_bytes
    assert str(caught.value) == f"kafka.options.max.request.size {size!r}: write a number of bytes, 1000 or more"


@given(st.text(st.sampled_from("aZ9._-"), min_size=1, max_size=249))
def test_every_topic_of_kafka_s_form_is_taken(name: str) -> None:
    assert TOPIC_FORM.fullmatch(name)
    if name not in (".", ".."):
        assert KafkaConfig(registry_topic=name).registry_topic == name
