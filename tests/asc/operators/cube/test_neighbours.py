"""Roll-up and drill-down."""

from __future__ import annotations

from itertools import compress, product
from typing import Any

import pytest

from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.neighbours import drill_down, roll_up
from asc.operators.cube.question import Question
from tests.asc.operators.cube.peak_memory import peak_bytes

DEFINITION = CubeDefinition.parse(
    {"dimensions": [["origin", "dest"], ["carrier"]], "measures": ["count(*) AS n"], "grain_s": 3_600}
)


def beside(by: list[Any]) -> tuple[list[list[str]], list[list[str]]]:
    question = Question.parse({"by": by}, DEFINITION)
    bodies = roll_up(question, DEFINITION.dimensions), drill_down(question, DEFINITION.dimensions)
    return [body["by"] for body in bodies[0]], [body["by"] for body in bodies[1]]


@pytest.mark.parametrize(
    ("by", "coarser", "finer"),
    [
        ([], [], [["origin"], ["carrier"]]),
        (["carrier"], [[]], [["carrier", "origin"]]),
        (["dest"], [["origin"]], [["origin", "dest", "carrier"]]),
        (["carrier", "origin"], [["origin"], ["carrier"]], [["carrier", "origin", "dest"]]),
        (["origin", "dest", "carrier"], [["origin", "carrier"], ["origin", "dest"]], []),
        ([["origin"], []], [[]], [["origin", "dest"], ["origin", "carrier"], ["origin"], ["carrier"]]),
    ],
)
def test_a_level_or_a_dimension_is_taken_away_or_added(by: list[Any], coarser: list[Any], finer: list[Any]) -> None:
    assert beside(by) == (coarser, finer)


def test_bodies_keep_what_they_are_about_and_can_be_posted() -> None:
    kept = {"where": "origin = 'JFK'", "from": "2013-07-10", "to": "2013-07-11", "measures": ["n"]}
    question = Question.parse({"by": ["carrier"], **kept, "limit": 1, "order": ["carrier"]}, DEFINITION)
    bodies = [*roll_up(question, DEFINITION.dimensions), *drill_down(question, DEFINITION.dimensions)]
    assert bodies == [{"by": [], **kept}, {"by": ["carrier", "origin"], **kept}]
    for body in bodies:
        Question.parse(body, DEFINITION)


@pytest.mark.parametrize(
    "kept", [{}, {"where": "c0 = 'x'", "from": "2013-07-10", "to": "2013-07-11", "measures": ["n"]}]
)
def test_bodies_take_no_more_than_is_reserved_before_each(kept: dict[str, Any]) -> None:
    names = [f"c{place}" for place in range(10)]
    plain = {"dimensions": [[own] for own in names], "measures": ["count(*) AS n"], "grain_s": 3_600}
    definition = CubeDefinition.parse(plain)
    by = [list(compress(names, bits)) for bits in product((0, 1), repeat=10)]
    question = Question.parse({"by": by, **kept}, definition)
    reserved: list[int] = []

    def made() -> list[dict[str, Any]]:
        sides = [side(question, definition.dimensions, reserved.append) for side in (roll_up, drill_down)]
        return [*sides[0], *sides[1]]

    peak = peak_bytes(made)
    assert peak <= sum(reserved) <= 2 * peak
    # And at each cuboid, known or not, the answer may end.
    assert len(reserved) == 2 * 10 * 1_024 // 2


def test_a_body_that_may_not_be_held_is_not_made() -> None:
    def refuse(_size_bytes: int) -> None:
        raise MemoryError

    question = Question.parse({"by": ["origin"]}, DEFINITION)
    for side in (roll_up, drill_down):
        with pytest.raises(MemoryError):
            side(question, DEFINITION.dimensions, refuse)
