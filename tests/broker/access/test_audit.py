"""The audit: a line for each change, whatever its texts hold and whatever becomes of the file."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import Any

import pytest

from broker.access.audit import Audit
from broker.errors import ConfigError


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("ascii").splitlines()]


def test_a_change_is_a_line_in_the_log_and_in_the_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "asc.audit")
    path = tmp_path / "audit"
    Audit(path).write("ops@10.0.0.1", [{"verb": "remove", "id": "late", "outcome": "removed"}])
    (line,) = lines(path)
    assert json.loads(caplog.messages[0]) == line
    assert line.pop("at").endswith("Z")
    assert line == {"who": "ops@10.0.0.1", "verb": "remove", "id": "late", "outcome": "removed"}
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "text", ['a"}\n{"who": "admin"', "\r\n", "\x00\x1b[2J", "\u2028\u0085\x0b\x1c", "\udcff", "\u202e"]
)
def test_no_text_forges_a_line(text: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "asc.audit")
    path = tmp_path / "audit"
    Audit(path).write("ops@h", [{"id": text, "error": text}, {"id": "next"}])
    first, second = lines(path)
    assert (first["id"], first["error"], second["id"]) == (text, text, "next")
    assert path.read_bytes().replace(b"\n", b"").decode("ascii").isprintable()
    assert all(message.isascii() and message.isprintable() for message in caplog.messages)


def test_a_file_that_was_renamed_away_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "audit"
    audit = Audit(path)
    audit.write("a@h", [{"id": "1"}])
    path.rename(tmp_path / "old")
    audit.write("a@h", [{"id": "2"}])
    assert [line["id"] for line in lines(path)] == ["2"]


def test_a_full_disk_loses_no_change_and_is_told_once(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    caplog.set_level(logging.INFO, "asc.audit")
    path = tmp_path / "audit"
    path.symlink_to("/dev/full")
    audit = Audit(path)
    audit.check()
    for number in range(3):
        audit.write("a@h", [{"id": number}])
    messages = [record.message for record in caplog.records if record.levelno == logging.ERROR]
    assert messages == [f"{path} cannot be written (No space left on device): changes are in the log alone"]
    assert [json.loads(r.message)["id"] for r in caplog.records if r.levelno == logging.INFO] == [0, 1, 2]
    path.unlink()
    audit.write("a@h", [{"id": 3}])
    assert [line["id"] for line in lines(path)] == [3]
    assert f"{path} is written again: what happened meanwhile is in the log alone" in caplog.messages


def test_a_line_that_was_cut_is_no_beginning_of_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "audit"
    audit, written, write = Audit(path), iter([7]), os.write

    def full(file: int, content: bytes) -> int:
        length = next(written, None)
        if length is None:
            raise OSError(28, "No space left on device")
        return write(file, content[:length])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        audit.write("a@h", [{"id": "cut"}])
    audit.write("a@h", [{"id": "whole"}])
    cut, whole = path.read_text().splitlines()
    assert len(cut) == 7
    assert json.loads(whole)["id"] == "whole"


def test_a_pipe_that_nobody_reads_holds_nothing_up(tmp_path: Path) -> None:
    path = tmp_path / "audit"
    os.mkfifo(path)
    Audit(path).write("a@h", [{"id": "1"}])


def test_a_file_that_cannot_be_is_told_at_the_start(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none" / "audit"):
        with pytest.raises(ConfigError, match=r"api\.audit_file '.*': cannot be written: "):
            Audit(path).check()
    Audit().check()


def test_of_a_large_load_the_file_has_each_line_and_the_log_how_many(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "asc.audit")
    path = tmp_path / "audit"
    entries = [{"id": number} for number in range(1_001)]
    Audit(path).write("a@h", entries)
    assert len(lines(path)) == 1_001
    (entry,) = map(json.loads, caplog.messages)
    assert (entry["who"], entry["changes"], entry["audit_file"]) == ("a@h", 1_001, str(path))
    caplog.clear()
    Audit().write("a@h", entries)
    assert len(caplog.messages) == 1_001
