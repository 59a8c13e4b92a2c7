"""Columns as a tokens file names them."""

from __future__ import annotations

import pytest

from broker.access.column_path import column_path, dotted


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("delay", ("delay",)),
        ("PLACE.City", ("place", "city")),
        ("`a.b`", ("a.b",)),
        ("x.`a``b`.y", ("x", "a`b", "y")),
        ("_headers", ("_headers",)),
    ],
)
def test_a_path_is_read_and_written_again(text: str, path: tuple[str, ...]) -> None:
    assert column_path(text) == path
    assert column_path(dotted(path)) == path


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", "`a", "a`b", "``", "`a`b"])
def test_what_is_no_path_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write a column"):
        column_path(text)
