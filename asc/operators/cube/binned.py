"""The bins in a cube's definition: dimensions whose edges are decided by a sample of records."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import pyarrow as pa

from asc.errors import CubeError
from asc.operators.cube.computed.bins import BinDimension
from asc.operators.cube.computed.table import computed_dimension
from asc.operators.cube.definition import CubeDefinition
from asc.spark_types import folded

Sampler = Callable[[Sequence[str]], Mapping[str, pa.Array]]
"""A function that reads the values of expressions in a sample of records, and returns them by the text of the
expression. It raises AscError if there is no sample.
"""


def bins_of(definition: CubeDefinition) -> tuple[BinDimension, ...]:
    """Return the dimensions of a cube that are bins, in order."""
    return tuple(own for own in definition.computed if isinstance(own, BinDimension))


def unsampled(definition: CubeDefinition) -> tuple[BinDimension, ...]:
    """Return the bins of a cube that have no edges yet."""
    return tuple(own for own in bins_of(definition) if own.edges is None)


def with_former_edges(plain: Mapping[str, Any], definition: CubeDefinition, former: CubeDefinition) -> dict[str, Any]:
    """Return the JSON object of a cube, with the edges of its former definition for bins without edges that are
    otherwise equal.

    So a cube that is registered again without edges keeps its edges and cells.
    """
    known = {own.without_edges(): own for own in bins_of(former) if own.edges is not None}
    return replaced(plain, {own: known[own] for own in unsampled(definition) if own in known})


def with_sampled_edges(plain: Mapping[str, Any], definition: CubeDefinition, sampler: Sampler) -> dict[str, Any]:
    """Return the JSON object of a cube whose bins all have edges. A sample decides the missing edges.

    Raise CubeError if the sample has no finite number for an expression. Errors of ``sampler`` are raised too.
    """
    missing = unsampled(definition)
    if not missing:
        return dict(plain)
    values = sampler(list(dict.fromkeys(own.sql for own in missing)))
    return replaced(plain, {own: own.with_edges_of(values[own.sql]) for own in missing})


def replaced(plain: Mapping[str, Any], others: Mapping[BinDimension, BinDimension]) -> dict[str, Any]:
    """Return the JSON object of a cube in which ``others`` replaces some bins: the new bins by the replaced bins."""
    texts = {own.text: other.text for own, other in others.items()}
    dimensions = [[_text(level, texts) for level in hierarchy] for hierarchy in plain.get("dimensions", [])]
    return {**plain, "dimensions": dimensions}


def without_edges(plain: Mapping[str, Any], definition: CubeDefinition, names: Collection[str] = ()) -> dict[str, Any]:
    """Return the JSON object of a cube with bins without edges, as a user writes them. ``names``: the names of these
    bins; empty means all bins.

    Raise CubeError if no bins have one of the names, or if the cube has no bins.
    """
    by_name = {folded(each.name): each for each in bins_of(definition)}
    shown = ", ".join(each.name for each in by_name.values())
    if not by_name:
        raise CubeError("dimensions", None, "are no bins: name a cube with a dimension such as bins(temp, 16)")
    for name in names:
        if folded(name) not in by_name:
            raise CubeError("dimension", name, f"is none of the cube's bins: name some of {shown}")
    chosen = [by_name[folded(name)] for name in names] or list(by_name.values())
    return replaced(plain, {each: each.without_edges() for each in chosen})


def with_given_bins(
    plain: Mapping[str, Any], definition: CubeDefinition, texts: Sequence[str], names: Collection[str] = ()
) -> dict[str, Any]:
    """Return the JSON object of a cube in which ``texts``, dimensions of bins with edges, replace the bins of the same
    names.

    ``names``: the names of the bins that may be replaced; empty means all. Raise CubeError if a text is no dimension of
    bins with edges, or has another expression or another name.
    """
    others: dict[BinDimension, BinDimension] = {}
    by_name = {folded(each.name): each for each in bins_of(definition)}
    for text in texts:
        other = computed_dimension(text)
        if not isinstance(other, BinDimension) or other.edges is None:
            raise CubeError("calibrated", text, "has no edges: give bins(x, n, [edges]) AS name")
        former = by_name.get(folded(other.name))
        if former is None or former.sql != other.sql or (names and other.name not in names):
            shown = ", ".join(each.summary for each in by_name.values()) or "none"
            raise CubeError("calibrated", other.summary, f"is none of the bins to replace: the cube has {shown}")
        others[former] = other
    return replaced(plain, others)


def _text(level: str, texts: Mapping[str, str]) -> str:
    if not isinstance(level, str):
        return level
    dimension = computed_dimension(level.strip())
    return level if dimension is None else texts.get(dimension.text, level)
