"""The bins of a cube's definition: dimensions whose edges a sample of records decides."""

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
"""A reader of the values of some expressions in a sample, by the text of the expression. It raises AscError if there is
no sample.
"""


def bins_of(definition: CubeDefinition) -> tuple[BinDimension, ...]:
    """Return the dimensions of a cube that are bins, in order."""
    return tuple(own for own in definition.computed if isinstance(own, BinDimension))


def unsampled(definition: CubeDefinition) -> tuple[BinDimension, ...]:
    """Return the bins of a cube that have no edges yet."""
    return tuple(own for own in bins_of(definition) if own.edges is None)


def with_former_edges(plain: Mapping[str, Any], definition: CubeDefinition, former: CubeDefinition) -> dict[str, Any]:
    """Return the JSON object of a cube with the edges of a former one, for bins that have none and are otherwise equal.

    So a definition without edges that is registered again changes nothing.
    """
    known = {own.without_edges(): own for own in bins_of(former) if own.edges is not None}
    return replaced(plain, {own: known[own] for own in unsampled(definition) if own in known})


def with_sampled_edges(plain: Mapping[str, Any], definition: CubeDefinition, sampler: Sampler) -> dict[str, Any]:
    """Return the JSON object of a cube whose bins all have edges. A sample decides those that are missing.

    Raise CubeError if a sample has no finite number for an expression, and the errors of the sampler.
    """
    missing = unsampled(definition)
    if not missing:
        return dict(plain)
    values = sampler(list(dict.fromkeys(own.sql for own in missing)))
    return replaced(plain, {own: own.with_edges_of(values[own.sql]) for own in missing})


def replaced(plain: Mapping[str, Any], others: Mapping[BinDimension, BinDimension]) -> dict[str, Any]:
    """Return the JSON object of a cube with other bins in place of some of its bins."""
    texts = {own.text: other.text for own, other in others.items()}
    dimensions = [[_text(level, texts) for level in hierarchy] for hierarchy in plain.get("dimensions", [])]
    return {**plain, "dimensions": dimensions}


def without_edges(plain: Mapping[str, Any], definition: CubeDefinition, names: Collection[str] = ()) -> dict[str, Any]:
    """Return the JSON object of a cube with bins as a user writes them. ``names``: those of the bins; by default all.

    Raise CubeError if the cube has no bins of a name, or none at all.
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
    """Return the JSON object of a cube with some bins replaced by given ones with edges, which have the same names.

    Raise CubeError if a text is no dimension of bins with edges over the same expression, or not among ``names``.
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
