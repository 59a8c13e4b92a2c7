"""Lists of expressions: divided outside of brackets and quotes alone."""

from __future__ import annotations

import pytest

from asc.errors import PredicateError
from cli.operators.divided import divided


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("x, y", ["x", "y"]),
        ("longitude * 0.68, latitude", ["longitude * 0.68", "latitude"]),
        ("greatest(x, y), m['a,b'], `c,d`", ["greatest(x, y)", "m['a,b']", "`c,d`"]),
        ("x,", ["x", ""]),
        ("", []),
    ],
)
def test_expressions_are_divided_at_commas_of_their_own(text: str, parts: list[str]) -> None:
    assert divided(text, ",") == parts


def test_a_text_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(PredicateError):
        divided("'x, y", ",")
