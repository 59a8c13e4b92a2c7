"""What a back-test found."""

from __future__ import annotations

from cli.found_rows import FoundRows


def test_where_nothing_else_is_said_all_rows_were_decoded() -> None:
    found = FoundRows(3, 1, {"late": 1})
    assert (found.undecodable, found.first_undecodable) == (0, None)
