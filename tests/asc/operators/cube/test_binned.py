"""Edges of a definition's bins: from a sample, from a former definition, and anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest

from asc.errors import CubeError
from asc.operators.cube.binned import (
    bins_of,
    unsampled,
    with_former_edges,
    with_given_bins,
    with_sampled_edges,
    without_edges,
)
from asc.operators.cube.definition import CubeDefinition

PLAIN: dict[str, Any] = {
    "dimensions": [["bins(x, 4)"], ["carrier"], ["bins(x + y) AS total"]],
    "measures": ["count(*)"],
    "grain_s": 60,
}


def definition(plain: Mapping[str, Any]) -> CubeDefinition:
    """Return the definition in a JSON object."""
    return CubeDefinition.parse(plain)


def sampler(texts: Sequence[str]) -> dict[str, pa.Array]:
    """Return a sample of 100 values for each expression."""
    return {text: pa.array([float(place) for place in range(100)]) for text in texts}


def never(_texts: Sequence[str]) -> dict[str, pa.Array]:
    """Refuse to return a sample."""
    raise AssertionError("the sample was read")


def test_a_sample_decides_the_edges_of_all_bins_at_once() -> None:
    asked: list[list[str]] = []

    def noted(texts: Sequence[str]) -> dict[str, pa.Array]:
        asked.append(list(texts))
        return sampler(texts)

    found = definition(with_sampled_edges(PLAIN, definition(PLAIN), noted))
    assert asked == [["x", "x + y"]]
    first, total = bins_of(found)
    assert (first.edges is not None and first.edges.edges, total.count) == ((24.5, 50.0, 74.5), None)
    assert found.dimensions.hierarchies[:2] == (("x:2", "x:4"), ("carrier",))
    assert unsampled(found) == ()
    assert with_sampled_edges(found.plain(), found, never) == found.plain()


def test_equal_bins_keep_the_edges_of_the_former_definition() -> None:
    former = definition(with_sampled_edges(PLAIN, definition(PLAIN), sampler))
    kept = definition(with_former_edges(PLAIN, definition(PLAIN), former))
    assert (kept, kept.generation("s", "w")) == (former, former.generation("s", "w"))
    other = {**PLAIN, "dimensions": [["bins(x, 8)"], ["bins(x + y) AS total"]]}
    kept = definition(with_former_edges(other, definition(other), former))
    assert [own.summary for own in unsampled(kept)] == ["bins(x, 8) AS x"]


def test_edges_are_a_part_of_the_generation() -> None:
    one = definition(with_sampled_edges(PLAIN, definition(PLAIN), sampler))
    two = definition(
        with_sampled_edges(PLAIN, definition(PLAIN), lambda texts: {text: pa.array([1.0, 2.0]) for text in texts})
    )
    assert one.generation("s", "w") != two.generation("s", "w")
    assert one.summary() == two.summary() == "count(*) by bins(x, 4) AS x, carrier, bins(x + y) AS total, every 1min"


def test_edges_are_removed_and_given_by_name() -> None:
    whole = definition(with_sampled_edges(PLAIN, definition(PLAIN), sampler))
    assert unsampled(definition(without_edges(whole.plain(), whole))) == unsampled(definition(PLAIN))
    some = definition(without_edges(whole.plain(), whole, ["TOTAL"]))
    assert [own.name for own in unsampled(some)] == ["total"]
    given = definition(with_given_bins(whole.plain(), whole, ["bins(x, 2, [7]) AS x"]))
    assert bins_of(given)[0].levels == ("x:2",)


@pytest.mark.parametrize(
    ("names", "error"),
    [
        (["carrier"], r"dimension 'carrier': is none of the cube's bins: name some of x, total"),
        (["x:4"], r"dimension 'x:4': is none of the cube's bins"),
    ],
)
def test_only_bins_get_other_edges(names: list[str], error: str) -> None:
    with pytest.raises(CubeError, match=error):
        without_edges(PLAIN, definition(PLAIN), names)


def test_a_cube_without_bins_gets_no_edges() -> None:
    plain = {**PLAIN, "dimensions": [["carrier"]]}
    with pytest.raises(CubeError, match=r"dimensions: are no bins: name a cube with a dimension such as bins"):
        without_edges(plain, definition(plain))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("bins(x, 4)", r"calibrated 'bins\(x, 4\)': has no edges"),
        ("carrier", r"calibrated 'carrier': has no edges"),
        (
            "bins(z, 2, [1]) AS x",
            r"'bins\(z, 2\) AS x': is none of the bins to replace: the cube has bins",
        ),
        ("bins(x, 2, [1]) AS other", r"is none of the bins to replace"),
    ],
)
def test_given_bins_replace_those_of_their_name(text: str, error: str) -> None:
    with pytest.raises(CubeError, match=error):
        with_given_bins(PLAIN, definition(PLAIN), [text])
