"""Pass-through settings: as text, and without their secrets where they are shown."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from broker.config.config import Config
from broker.config.options import Options, masked
from broker.config.sections import KafkaConfig

SECRETS = [
    "sasl.jaas.config",
    "ssl.key.password",
    "ssl.keystore.password",
    "ssl.keystore.key",
    "SSL.TRUSTSTORE.PASSWORD",
    "sasl.oauthbearer.client.secret",
    "sasl.oauthbearer.token.endpoint.url",
    "fs.s3a.credentials",
    "basic.auth.user.info",
    "ssl.key.passphrase",
    "ssl.passphrase.ms.x",
    "a.secret\n.ms",
    "of.some.later.version",
    "a.password.ms",
    "password.bytes",
    "enable.password",
]
SHOWN = [
    "security.protocol",
    "ssl.keystore.location",
    "key.serializer",
    "linger.ms",
    "ssl.keystore.type",
    "max.request.size",
]


def test_secrets_are_masked() -> None:
    options = {"sasl.jaas.config": "a", "ssl.keystore.password": "b", "security.protocol": "SASL_SSL"}
    shown = Config(kafka=KafkaConfig(options=options)).effective()["kafka"]["options"]
    assert shown == {
        "sasl.jaas.config": "********",
        "ssl.keystore.password": "********",
        "security.protocol": "SASL_SSL",
    }


@given(st.dictionaries(st.sampled_from([*SECRETS, *SHOWN]), st.text()))
def test_the_keys_stay_and_of_the_values_only_the_secrets_go(options: dict[str, str]) -> None:
    shown = masked(options)
    assert list(shown) == list(options)
    assert {key: shown[key] for key in shown if key in SHOWN} == {key: options[key] for key in shown if key in SHOWN}
    assert {shown[key] for key in shown if key in SECRETS} <= {"********"}
    assert masked(shown) == shown


@pytest.mark.parametrize(
    ("value", "text"), [(True, "true"), (False, "false"), (7, "7"), (-0.5, "-0.5"), ("x", "x"), ("", "")]
)
def test_numbers_and_booleans_of_toml_become_what_kafka_and_spark_read(value: Any, text: str) -> None:
    assert TypeAdapter(Options).validate_python({"k": value}) == {"k": text}


@pytest.mark.parametrize("value", [None, ["x"], {"x": "y"}])
def test_what_is_no_text_is_refused(value: Any) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Options).validate_python({"k": value})
