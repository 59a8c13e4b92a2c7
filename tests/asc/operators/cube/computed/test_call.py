"""Calls of computed dimensions."""

from __future__ import annotations

import pytest

from asc.errors import CubeError
from asc.operators.cube.computed.call import Call


def parsed(text: str) -> Call | None:
    return Call.parse(text, ["geohash"])


def test_arguments_are_divided_outside_brackets() -> None:
    call = parsed(" GeoHash ( round(lat, 2) , m['a,b'], 5 > 10 /* levels */ ) as Place ")
    assert call is not None
    assert (call.function, call.arguments, call.name) == ("geohash", ("round(lat, 2)", "m['a,b']", "5 > 10"), "Place")
    bare = parsed("geohash(lat, lon, 20)")
    assert bare is not None
    assert bare.name is None


@pytest.mark.parametrize("text", ["carrier", "geohashes(lat)", "f(geohash(lat, lon, 5))", "geohash", "`geohash`(a)"])
def test_other_texts_are_expressions(text: str) -> None:
    assert parsed(text) is None


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("geohash(lat, lon, 20", "has a parenthesis that is not closed"),
        ("geohash(lat, lon, 20) + 1", "goes on after its parenthesis"),
        ("geohash(lat, lon, 20) AS geo, x", "goes on after its parenthesis"),
        ("geohash(lat, lon, 20) AS", "has no name after AS"),
        ("geohash(lat, lon, 20) AS `a:b`", "has no name after AS"),
        ("geohash(lat, lon, 20) AS größe", "has no name after AS"),
        (f"geohash(lat, lon, 20) AS {'a' * 65}", "has no name after AS"),
        ("geohash(lat, 'lon, 20)", "is a quote or a comment left open"),
    ],
)
def test_a_call_that_goes_on_otherwise_is_refused(text: str, remedy: str) -> None:
    with pytest.raises(CubeError, match=remedy):
        parsed(text)
