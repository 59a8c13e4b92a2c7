"""Roll-up and drill-down: the questions that are one level coarser, or one level finer, than a question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from asc.operators.cube.answer_memory import Reserve, body_bytes, unbounded
from asc.operators.cube.cuboid import Dimensions, Levels
from asc.operators.cube.question import Question

_KEPT = ("where", "within", "from", "to", "grain_s", "grain", "hours", "live", "late", "measures")
"""The fields of a question that are copied unchanged to its roll-ups and drill-downs."""


def roll_up(question: Question, dimensions: Dimensions, reserve: Reserve = unbounded) -> list[dict[str, Any]]:
    """Return a request body for each cuboid that is coarser than a cuboid of the question by one level of one
    dimension.

    ``reserve`` is called before each body with the bytes of the body, and may raise an exception.
    """
    return _bodies(question, (own for each in _each(question) for own in _coarser(*each, dimensions)), reserve)


def drill_down(question: Question, dimensions: Dimensions, reserve: Reserve = unbounded) -> list[dict[str, Any]]:
    """Return a request body for each cuboid that is finer than a cuboid of the question by one level of one dimension.

    ``reserve`` is called as in :func:`roll_up`.
    """
    return _bodies(question, (own for each in _each(question) for own in _finer(*each, dimensions)), reserve)


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


def _bodies(question: Question, cuboids: Iterator[list[str]], reserve: Reserve) -> list[dict[str, Any]]:
    fields = {name: value for name, value in (question.body or {}).items() if name in _KEPT and value is not None}
    bodies: dict[tuple[str, ...], dict[str, Any]] = {}
    for names in cuboids:
        key = tuple(names)
        # ``reserve`` is also called for a repeated cuboid, because it may cancel the computation after a time limit.
        reserve(0 if key in bodies else body_bytes(len(fields) + len(names)))
        if key not in bodies:
            bodies[key] = {"by": names, **fields}
    return list(bodies.values())
