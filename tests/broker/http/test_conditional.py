"""Conditional requests: If-None-Match, and what it may say."""

from __future__ import annotations

import pytest

from broker.errors import QueryError
from broker.http.conditional import replaces


def test_a_star_keeps_what_stands() -> None:
    assert replaces(None)
    assert not replaces("*")
    assert not replaces(" * ")


@pytest.mark.parametrize("given", ["", '"7"', "**"])
def test_anything_else_is_refused(given: str) -> None:
    with pytest.raises(QueryError, match="header If-None-Match"):
        replaces(given)
