"""Files of secrets that others can read are named."""

from __future__ import annotations

from pathlib import Path

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
            "api": {"token_file": files["token"], "tls_key_file": files["key"], "tls_cert_file": files["cert"]},
        }
    )
    assert exposed_files(config) == [files["token"], files["kafka"]]


def test_without_secrets_there_is_none() -> None:
    assert exposed_files(parse_config({})) == []
