"""Files that the configuration names: read as UTF-8, or the reason in one line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from broker.config.text_file import read_text
from broker.errors import ConfigError


def refusal(path: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        read_text("schema file", path)
    assert "\n" not in str(caught.value)
    assert caught.value.value == str(path)
    return str(caught.value).removeprefix(f"schema file {str(path)!r}: cannot be read: ")


def test_the_text_is_what_is_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes("blå ∧ 'x'\n".encode())
    assert read_text("schema file", tmp_path / "file") == "blå ∧ 'x'\n"
    (tmp_path / "empty").touch()
    assert read_text("schema file", tmp_path / "empty") == ""


def test_what_cannot_be_read_is_named_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes("blå".encode("latin-1"))
    assert refusal(tmp_path / "latin") == "it is not UTF-8 text"
    assert refusal(tmp_path / "none") == "No such file or directory"
    assert refusal(tmp_path) == "Is a directory"
    assert refusal(tmp_path / "latin" / "below") == "Not a directory"
    assert refusal(tmp_path / "a\0b") == "embedded null byte"


def test_what_has_no_end_is_not_read(tmp_path: Path) -> None:
    assert refusal(Path("/dev/zero")) == "it is no plain file"
    os.mkfifo(tmp_path / "pipe")
    assert refusal(tmp_path / "pipe") == "it is no plain file"
    with (tmp_path / "large").open("wb") as file:
        file.truncate((16 << 20) + 1)
    assert refusal(tmp_path / "large") == "has more than 16 MiB"
    (tmp_path / "link").symlink_to(tmp_path / "small")
    (tmp_path / "small").write_text("a\r\nb")
    assert read_text("schema file", tmp_path / "link") == "a\nb"
