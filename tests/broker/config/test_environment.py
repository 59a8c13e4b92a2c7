"""Keys of the configuration as variables: which key, which value, and what is told of those that are none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from asc.errors import AscError
from broker.config.config import Config, load_config, load_kafka_options, origins
from broker.config.environment import Overlay, has_variables, of_variables
from broker.errors import ConfigError, ConfigFaultsError

FILE = """
[kafka]
bootstrap_servers = "file:9092"
[api]
port = 8751
[streams.flights-eu]
topic = "flights"
format = "json"
schema = "delay INT"
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "asc.toml"
    file.write_text(FILE, encoding="utf-8")
    return file


CASES: list[tuple[str, str, tuple[str, ...], Any]] = [
    ("ASC__KAFKA__BOOTSTRAP_SERVERS", "a:1,b:2", ("kafka", "bootstrap_servers"), "a:1,b:2"),
    ("ASC__API__PORT", "9000", ("api", "port"), 9000),
    ("ASC__API__HOST", "localhost", ("api", "host"), "localhost"),
    ("ASC__API__REQUESTS_PER_S", "7.5", ("api", "requests_per_s"), 7.5),
    ("ASC__KAFKA__ALLOW_TOPIC_CREATION", "false", ("kafka", "allow_topic_creation"), False),
    ("ASC__MONITOR__TRIGGERS", '["cost"]', ("monitor", "triggers"), ["cost"]),
    ("ASC__MONITOR__MODE", "periodic", ("monitor", "mode"), "periodic"),
    ("ASC__STREAMS__FLIGHTS_EU__TOPIC", "1234", ("streams", "flights-eu", "topic"), "1234"),
    ("ASC__STREAMS__FLIGHTS_EU__SCHEMA", "n INT", ("streams", "flights-eu", "schema"), "n INT"),
    ("ASC__KAFKA__OPTIONS__MAX_REQUEST_SIZE", "5000", ("kafka", "options", "max.request.size"), "5000"),
    ("ASC__SPARK__OPTIONS", '{"spark.executor.memoryOverhead" = "1g"}', ("spark", "options"), None),
]


@pytest.mark.parametrize(("name", "text", "key", "value"), CASES, ids=[case[0][5:] for case in CASES])
def test_a_variable_stands_in_for_the_file(path: Path, name: str, text: str, key: tuple[str, ...], value: Any) -> None:
    shown: Any = load_config(path, variables={name: text}).model_dump(mode="json", by_alias=True)
    for part in key:
        shown = shown[part]
    assert shown == ({"spark.executor.memoryOverhead": "1g"} if value is None else value)
    assert name in origins(path, {name: text}).values()


def test_the_command_line_stands_in_for_variables(path: Path) -> None:
    variables = {"ASC__SPARK__MASTER": "local[3]", "ASC__KAFKA__BOOTSTRAP_SERVERS": "a:1"}
    assert load_config(path, variables=variables).spark.master == "local[3]"
    config = load_config(path, variables=variables, master="local[1]", embedded=True)
    assert (config.spark.master, config.kafka.bootstrap_servers) == ("local[1]", None)


def test_without_a_file_and_with_empty_variables(path: Path) -> None:
    assert load_config(None, variables={"ASC__API__PORT": "", "ASC_TOKEN": "x"}) == Config()
    assert load_config(path, variables={"ASC__API__PORT": ""}).api.port == 8751
    assert not has_variables({"ASC__API__PORT": "", "ASC_TOKEN": "x"})
    stream = {"TOPIC": "flights", "FORMAT": "json", "SCHEMA": "delay INT"}
    config = load_config(None, variables={f"ASC__STREAMS__FLIGHTS__{key}": value for key, value in stream.items()})
    config.check()
    assert config.streams["flights"].topic == "flights"


def test_a_secret_comes_from_a_file_and_is_not_shown(path: Path, tmp_path: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text("hunter2\n", encoding="utf-8")
    variables = {
        "ASC__KAFKA__OPTIONS__SECURITY_PROTOCOL": "SASL_PLAINTEXT",
        "ASC__KAFKA__OPTIONS__SASL_MECHANISM": "PLAIN",
        "ASC__KAFKA__OPTIONS__SASL_PLAIN_USERNAME": "asc",
        "ASC__KAFKA__OPTIONS__SASL_PLAIN_PASSWORD_FILE": str(secret),
    }
    config = load_config(path, variables=variables)
    assert config.kafka.options["sasl.plain.password"] == "hunter2"
    assert load_kafka_options(None, variables) == config.kafka.options
    assert "hunter2" not in str(config.effective())
    # A key that ends so is a key.
    assert load_config(path, variables={"ASC__API__AUDIT_FILE": "/x"}).api.audit_file == Path("/x")


REFUSALS: list[tuple[dict[str, str], str]] = [
    ({"ASC__API__PROT": "1"}, "ASC__API__PROT: unknown configuration key 'api.prot': did you mean 'port'"),
    ({"ASC__AIP__PORT": "1"}, "ASC__AIP__PORT: unknown configuration key 'aip': did you mean 'api'"),
    ({"ASC__API__PORT": "many"}, "ASC__API__PORT: configuration key api.port 'many': give an integer"),
    ({"ASC__API": "1"}, "variable 'ASC__API': names no key"),
    ({"ASC__API__PORT__X": "1"}, "variable 'ASC__API__PORT__X': names no key"),
    ({"ASC__SPARK__OPTIONS": "x"}, "variable 'ASC__SPARK__OPTIONS': is a table of TOML"),
    ({"ASC__SPARK__MASTER": "here"}, "ASC__SPARK__MASTER: spark.master 'here': write local"),
    ({"ASC__KAFKA__OPTIONS__SECURITY_PROTOCOL": "X"}, "ASC__KAFKA__OPTIONS__SECURITY_PROTOCOL: kafka.options 'sec"),
    ({"ASC__API__HOST_FILE": "/nowhere"}, "ASC__API__HOST_FILE: file '/nowhere': cannot be read"),
    ({"ASC__API__PORT": "1", "ASC__api__PORT": "2"}, "says the same as ASC__API__PORT: keep one of them"),
]


@pytest.mark.parametrize(("variables", "said"), REFUSALS, ids=[next(iter(case[0]))[5:] for case in REFUSALS])
def test_what_is_wrong_names_the_variable(path: Path, variables: Mapping[str, str], said: str) -> None:
    with pytest.raises(AscError) as caught:
        load_config(path, variables=variables)
    faults = caught.value.faults if isinstance(caught.value, ConfigFaultsError) else (caught.value,)
    assert said in " | ".join(map(str, faults))


def test_a_key_whose_name_another_one_begins_with_is_not_blamed() -> None:
    overlay = Overlay({}, {("streams", "f", "schema"): "ASC__STREAMS__F__SCHEMA"}, ())
    other, own = (ConfigError(f"streams.f.{key}", "x", "mend it") for key in ("schema_file", "schema"))
    assert of_variables(other, overlay) is other
    assert of_variables(own, overlay).subject == "ASC__STREAMS__F__SCHEMA: streams.f.schema"


def test_two_streams_of_like_names(path: Path) -> None:
    path.write_text(FILE + '[streams."flights.eu"]\ntopic = "t"\nformat = "json"\nschema = "n INT"\n', "utf-8")
    with pytest.raises(AscError, match=r"may mean any of the streams flights-eu, flights\.eu"):
        load_config(path, variables={"ASC__STREAMS__FLIGHTS_EU__TOPIC": "x"})
