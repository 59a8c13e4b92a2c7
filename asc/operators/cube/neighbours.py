"""Roll-up and drill-down: the questions beside a question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from asc.operators.cube.cuboid import Dimensions, Levels
from asc.operators.cube.question import Question

_KEPT = ("where", "from", "to", "grain_s", "live", "late", "measures")
"""The fields of a question that those beside it have as well."""


def roll_up(question: Question, dimensions: Dimensions) -> list[dict[str, Any]]:
    """Return the bodies to post for each cuboid that is coarser by one level of one dimension."""
    return _bodies(question, (own for each in _each(question) for own in _coarser(*each, dimensions)))


def drill_down(question: Question, dimensions: Dimensions) -> list[dict[str, Any]]:
    """Return the bodies to post for each cuboid that is finer by one level of one dimension."""
    return _bodies(question, (own for each in _each(question) for own in _finer(*each, dimensions)))


def _each(question: Question) -> Iterator[tuple[Levels, tuple[int, ...]]]:
    yield from zip(question.cuboids, question.orders, strict=True)


def _coarser(cuboid: Levels, order: Sequence[int], dimensions: Dimensions) -> Iterator[list[str]]:
    for place in order:
        yield dimensions.levels_of(_moved(cuboid, place, -1), order)


def _finer(cuboid: Levels, order: Sequence[int], dimensions: Dimensions) -> Iterator[list[str]]:
    others = [place for place in range(len(cuboid)) if place not in order]
    for place in (*order, *others):
        if cuboid[place] < len(dimensions.hierarchies[place]):
            own = order if place in order else (*order, place)
            yield dimensions.levels_of(_moved(cuboid, place, 1), own)


def _moved(cuboid: Levels, place: int, by: int) -> Levels:
    return (*cuboid[:place], cuboid[place] + by, *cuboid[place + 1 :])


def _bodies(question: Question, cuboids: Iterator[list[str]]) -> list[dict[str, Any]]:
    own = {name: value for name, value in (question.body or {}).items() if name in _KEPT and value is not None}
    different = {tuple(names): names for names in cuboids}
    return [{"by": names, **own} for names in different.values()]
