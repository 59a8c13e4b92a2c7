"""TLS and SASL: what is wrong with the options before anything is reached, and what each client is told."""

from __future__ import annotations

from pathlib import Path

import pytest
import trustme

from broker.config.security import java_options, librdkafka_options, python_options, security_faults

LOGIN = {"sasl.mechanism": "PLAIN", "sasl.plain.username": "asc", "sasl.plain.password": 'se"c\\ret'}


def faults(**options: str) -> list[str]:
    return [str(fault) for fault in security_faults({key.replace("_", "."): text for key, text in options.items()})]


def test_nothing_is_wrong_with_no_options() -> None:
    assert faults() == faults(security_protocol="ssl") == []


def test_what_is_wrong_is_named_by_its_key(tmp_path: Path) -> None:
    protocols = "PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL"
    assert faults(security_protocol="TLS") == [f"kafka.options 'security.protocol' 'TLS': is one of {protocols}"]
    mechanisms = "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, GSSAPI"
    for given in ({}, {"sasl_mechanism": "plain"}):
        (said,) = faults(security_protocol="SASL_PLAINTEXT", **given)
        value = f" '{given['sasl_mechanism']}'" if given else ""
        assert said == f"kafka.options 'sasl.mechanism'{value}: is one of {mechanisms}"
    missing = [f"kafka.options 'sasl.plain.{name}': is missing: PLAIN asks for it" for name in ("username", "password")]
    assert faults(security_protocol="SASL_PLAINTEXT", sasl_mechanism="PLAIN") == missing
    assert faults(security_protocol="SASL_PLAINTEXT", sasl_mechanism="GSSAPI") == []
    gone = str(tmp_path / "gone.pem")
    for key in ("ssl.cafile", "ssl.certfile", "ssl.keyfile", "ssl.truststore.location", "ssl.keystore.location"):
        assert faults(**{"security_protocol": "SSL", key: gone}) == [
            f"kafka.options '{key}' '{gone}': cannot be read (No such file or directory): name a file that can"
        ]


def test_files_that_are_no_certificates_are_named(tmp_path: Path) -> None:
    (tmp_path / "other.pem").write_text("no certificate", encoding="utf-8")
    ca = trustme.CA()
    ca.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    own = ca.issue_cert("127.0.0.1")
    own.cert_chain_pems[0].write_to_path(str(tmp_path / "own.pem"))
    own.private_key_pem.write_to_path(str(tmp_path / "own.key"))
    given = {"security_protocol": "SSL", "ssl_cafile": str(tmp_path / "ca.pem")}
    assert faults(**given) == []
    assert faults(**given, ssl_certfile=str(tmp_path / "own.pem"), ssl_keyfile=str(tmp_path / "own.key")) == []
    (said,) = faults(security_protocol="SSL", ssl_cafile=str(tmp_path / "other.pem"))
    assert said.startswith(f"kafka.options 'ssl.cafile' '{tmp_path / 'other.pem'}': holds no certificates in PEM (")
    (said,) = faults(**given, ssl_certfile=str(tmp_path / "own.pem"), ssl_keyfile=str(tmp_path / "ca.pem"))
    assert said.startswith(
        f"kafka.options 'ssl.certfile' '{tmp_path / 'own.pem'}': is no certificate in PEM with the key"
    )


@pytest.mark.parametrize(("mechanism", "module"), [("PLAIN", "plain.Plain"), ("SCRAM-SHA-512", "scram.Scram")])
def test_java_is_told_what_the_others_are(mechanism: str, module: str) -> None:
    options = {
        **LOGIN,
        "sasl.mechanism": mechanism,
        "ssl.cafile": "ca.pem",
        "security.protocol": "sasl_ssl",
        "acks": "1",
    }
    java = java_options(options)
    login = f'org.apache.kafka.common.security.{module}LoginModule required username="asc" password="se\\"c\\\\ret";'
    assert java == {
        **options,
        "security.protocol": "SASL_SSL",
        "sasl.jaas.config": login,
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": "ca.pem",
    }
    own = {"sasl.jaas.config": "mine", "ssl.truststore.location": "mine.jks"}
    assert own.items() <= java_options({**options, **own}).items()
    assert "ssl.truststore.type" not in java_options({**options, **own})
    assert java_options({"acks": "1"}) == python_options({"acks": "1"}) == {"acks": "1"}


def test_librdkafka_is_told_by_its_names() -> None:
    options = {
        **LOGIN,
        "security.protocol": "SASL_SSL",
        "ssl.cafile": "ca.pem",
        "ssl.check.hostname": "false",
        "acks": "1",
    }
    assert librdkafka_options(options) == {
        "security.protocol": "sasl_ssl",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "asc",
        "sasl.password": LOGIN["sasl.plain.password"],
        "ssl.ca.location": "ca.pem",
        "ssl.endpoint.identification.algorithm": "none",
    }
