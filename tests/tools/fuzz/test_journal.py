"""A journal says what is tried, to whoever reads the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.fuzz.journal import Journal


def test_a_reader_sees_what_is_tried(tmp_path: Path) -> None:
    reader, writer = (Journal(tmp_path / "journal") for _ in range(2))
    assert reader.entry() == (0, 0.0, 0.0, ())
    writer.weigh([7, 9])
    writer.begin(b"first")
    assert reader.given() == b"first"
    assert reader.entry().busy_s > 0
    assert reader.entry().pids == (7, 9)
    writer.end()
    assert (reader.entry().tried, reader.entry().busy_s) == (1, 0.0)
    assert reader.entry().slowest_s > 0
    writer.begin(b"2")
    assert reader.given() == b"2"
    assert reader.found() is None
    writer.find("wrong")
    assert reader.found() == "wrong"


def test_an_input_that_has_no_room_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="8388609"):
        Journal(tmp_path / "journal").begin(bytes((8 << 20) + 1))
