"""The table of record formats."""

from __future__ import annotations

from broker.formats.registry import FORMATS, RECORD_FORMATS


def test_each_format_is_found_by_its_own_name() -> None:
    assert {name: record_format.name for name, record_format in FORMATS.items()} == {name: name for name in FORMATS}
    assert set(RECORD_FORMATS) < set(FORMATS)
