"""The file of records."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from broker.unfinished_file import unfinished
from cli.failure import CommandError
from cli.operators.dbscan.record_file import record_file

FULL = "cannot be written: No space left on device"
MANY = 100_000


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in folder.iterdir()}


def write(path: Path, records: int = 1) -> None:
    with record_file(path) as file:
        for _ in range(records):
            file.write("Zürich")


def test_the_file_of_before_is_replaced_when_the_new_one_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "records.ndjson"
    path.write_text("of before", "utf-8")
    with record_file(path) as file:
        file.write("one")
        file.write("two")
        assert path.read_text("utf-8") == "of before"
    assert contents(tmp_path) == {"records.ndjson": "one\ntwo\n"}


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    link, path = tmp_path / "link", tmp_path / "own" / "records.ndjson"
    link.symlink_to(path)
    for _ in range(2):
        write(link)
        assert link.is_symlink()
        assert contents(path.parent) == {"records.ndjson": "Zürich\n"}


def test_a_failure_leaves_the_file_of_before(tmp_path: Path) -> None:
    path = tmp_path / "records.ndjson"
    path.write_text("of before", "utf-8")

    def fail() -> None:
        with record_file(path) as file:
            file.write("one")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert contents(tmp_path) == {"records.ndjson": "of before"}


def test_a_pipe_gets_the_records() -> None:
    read, written = os.pipe()
    with os.fdopen(read, encoding="utf-8") as pipe:
        with os.fdopen(written, "w"):
            write(Path(f"/dev/fd/{written}"), 3)
        assert pipe.read() == "Zürich\n" * 3


@pytest.mark.parametrize("records", [1, MANY])
def test_a_full_device_is_named(records: int) -> None:
    with pytest.raises(CommandError, match=f"file of records '/dev/full': {FULL}"):
        write(Path("/dev/full"), records)
    assert Path("/dev/full").is_char_device()


@pytest.mark.parametrize("records", [1, MANY])
def test_a_full_disk_leaves_no_part_of_the_file(tmp_path: Path, records: int) -> None:
    path = tmp_path / "records.ndjson"
    path.write_text("of before", "utf-8")
    unfinished(path).symlink_to("/dev/full")
    with pytest.raises(CommandError, match=f"records.ndjson': {FULL}"):
        write(path, records)
    assert contents(tmp_path) == {"records.ndjson": "of before"}


@pytest.mark.parametrize("name", ["missing/records.ndjson", "."])
def test_a_place_that_takes_no_file_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(CommandError, match="file of records"):
        write(tmp_path / name)
    assert contents(tmp_path) == {}
