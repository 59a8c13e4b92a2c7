"""Files of secrets that others can read are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from broker.config.config import parse_config
from broker.config.exposed import exposed_files


def test_those_that_others_may_read_are_found(tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("token", "key", "kafka", "cert")}
    for path in files.values():
        path.write_text("x", "utf-8")
        path.chmod(0o644)
    files["key"].chmod(0o640)
    config = parse_config(
        {
            "kafka": {"options": {"ssl.keyfile": str(files["kafka"]), "ssl.keystore.location": str(tmp_path / "none")}},
            "api": {"root_token_file": files["token"], "tls_key_file": files["key"], "tls_cert_file": files["cert"]},
        }
    )
    assert exposed_files(config) == {files["token"]: "read", files["kafka"]: "read"}


SECRETS = {
    "kafka": {"options": {"sasl.plain.password": "x"}},
    "spark": {"options": {"spark.authenticate.secret": "x"}},
}


@pytest.mark.parametrize("given", [{section: options} for section, options in SECRETS.items()], ids=list(SECRETS))
def test_a_configuration_with_a_password_is_a_file_of_a_secret(tmp_path: Path, given: dict[str, Any]) -> None:
    file = tmp_path / "asc.toml"
    file.write_text("", "utf-8")
    file.chmod(0o644)
    assert exposed_files(parse_config(given), file) == {file: "read"}
    assert exposed_files(parse_config({}), file) == {}
    file.chmod(0o640)
    assert exposed_files(parse_config(given), file) == {}


def test_files_that_others_may_write_decide_who_may_do_what(tmp_path: Path) -> None:
    file, tokens = tmp_path / "asc.toml", tmp_path / "tokens"
    for path in (file, tokens):
        path.write_text("", "utf-8")
        path.chmod(0o666)
    assert exposed_files(parse_config({"api": {"tokens_file": tokens}}), file) == {file: "write", tokens: "write"}


def test_without_secrets_there_is_none() -> None:
    assert exposed_files(parse_config({})) == {}
