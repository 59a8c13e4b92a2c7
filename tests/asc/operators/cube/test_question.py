"""Bodies of questions."""

from __future__ import annotations

from typing import Any

import pytest

from asc.errors import CubeError
from asc.operators.cube import cuboid
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.question import Question
from asc.spark_types import folded

PLAIN = {
    "dimensions": [["origin", "dest"], ["carrier"]],
    "measures": ["count(*) AS flights", "sum(delay)"],
    "grain_s": 3_600,
}
DEFINITION = CubeDefinition.parse(PLAIN)
TIMELESS = CubeDefinition.parse({**PLAIN, "grain_s": None}, needs_time=False)


def test_an_empty_body_asks_for_everything() -> None:
    found = Question.parse({}, DEFINITION)
    assert (found.cuboids, found.where, found.first, found.end) == (((0, 0),), None, None, None)
    assert [own.place for own in found.measures] == [0, 1]
    assert (found.ordering, found.limit) == ((), 1_000)


def test_a_body_of_everything() -> None:
    body = {
        "by": [["carrier", "dest"], [], ["dest", "carrier", "origin"]],
        "where": "origin = 'JFK'",
        "from": "2013-07-10T00:00:00Z",
        "to": "2013-07-11",
        "measures": ["SUM(delay)", "flights"],
        "order": ["flights desc", "sum(delay)"],
        "limit": 10,
    }
    found = Question.parse(body, DEFINITION)
    assert found.cuboids == ((2, 1), (0, 0))
    assert found.orders == ((1, 0), ())
    assert found.first is not None
    assert found.end == found.first + 24
    assert [own.place for own in found.measures] == [1, 0]
    assert [(own.name, own.is_descending) for own in found.ordering] == [("flights", True), ("sum(delay)", False)]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"wher": "a"}, "field 'wher': is not known"),
        ({"by": "carrier"}, "by 'carrier': give a cuboid"),
        ({"by": [["carrier"], "dest"]}, "give a cuboid"),
        ({"by": ["carrier", "CARRIER"]}, "by ['carrier', 'CARRIER']: has a dimension twice: name each once"),
        ({"measures": ["flights", "Flights"]}, "measure 'Flights': is named twice: name it once"),
        ({"order": ["flights DESC", "flights"]}, "order 'flights': is named twice: name it once"),
        ({"by": [["carrier"]] * 4_097}, "by 4097: a question has at most 4,096 cuboids of 3 names: name each once"),
        ({"by": ["carrier"] * 4_097}, "by 4097: a question has at most 4,096 cuboids of 3 names: name each once"),
        ({"by": [["carrier"], ["dest"] * 4]}, "by 4: a question has at most 4,096 cuboids of 3 names: name each once"),
        ({"by": ["tailnum"]}, "by 'tailnum': is no dimension: name some of origin, dest, carrier"),
        ({"where": ""}, "where '': give a predicate"),
        ({"where": 1}, "where 1: give a predicate"),
        ({"from": "2013-07-10T00:30:00Z"}, "is off the grain of 1h: give a multiple, as 2013-07-10T00:00:00Z"),
        ({"to": "noon"}, "to 'noon': is no time"),
        ({"from": "2013-07-11", "to": "2013-07-11"}, "to '2013-07-11': is not after from, 2013-07-11"),
        (
            {"from": "2013-07-10T01:00:00Z", "grain_s": 7_200},
            "from '2013-07-10T01:00:00Z': is off the grain of 2h: give a multiple, as 2013-07-10T00:00:00Z",
        ),
        ({"to": "2013-07-10T23:00:00Z", "grain_s": 86_400}, "a multiple, as 2013-07-10T00:00:00Z"),
        ({"grain_s": 1_800}, "grain_s 1800: is no multiple of the cube's grain of 1h: give one, as 3600"),
        ({"grain_s": 18_000}, "grain_s 18000: give seconds that divide an hour, or whole hours that divide 24"),
        ({"grain_s": 172_800}, "grain_s 172800: give seconds"),
        ({"grain_s": "1h"}, "grain_s '1h': give seconds"),
        ({"grain_s": True}, "grain_s True: give seconds"),
        ({"grain_s": 0}, "grain_s 0: give seconds"),
        ({"measures": ["delay"]}, "measure 'delay': is not declared: the cube has flights, sum(delay)"),
        ({"measures": []}, "measures []: give a list"),
        ({"order": "flights"}, "order 'flights': give a list"),
        ({"order": ["delay DESC"]}, "order 'delay DESC': give a list"),
        ({"by": [["carrier"], []], "order": ["carrier"]}, "order 'carrier': give a list"),
        ({"order": [1]}, "order 1: give a list"),
        ({"by": ["carrier"], "order": ["x"]}, "order 'x': give a list of some of carrier, flights, sum(delay), as"),
        ({"order": ["x"]}, """as ["sum(delay) DESC"], on the command line as 'sum(delay) DESC'"""),
        ({"limit": 0}, "limit 0: give a number of rows from 1 to 100,000"),
        ({"limit": 100_001}, "limit 100001"),
        ({"limit": True}, "limit True"),
    ],
)
def test_what_is_no_question_is_refused_in_one_line(body: dict[str, Any], said: str) -> None:
    with pytest.raises(CubeError) as caught:
        Question.parse(body, DEFINITION)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_most_cuboids_and_names() -> None:
    found = Question.parse({"by": [["dest", "carrier", "origin"]] * 4_096}, DEFINITION)
    assert (found.cuboids, found.orders) == (((2, 1),), ((0, 1),))


def test_expressions_are_read_once_however_many_cuboids_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(name: str) -> str:
        read.append(name)
        return folded(name)

    monkeypatch.setattr(cuboid, "folded", counted)
    Question.parse({"by": [["carrier"]] * 1_000}, DEFINITION)
    # One for each name, and for each expression of the cube.
    assert len(read) == 1_000 + 3


def test_a_grain_is_panes_and_its_bounds_are_at_multiples_of_it() -> None:
    found = Question.parse({"from": "1969-12-31", "to": "1970-01-02", "grain_s": 21_600}, DEFINITION)
    assert (found.panes, found.first, found.end) == (6, -24, 24)
    # An end that is cut off is that of the last whole interval, and never before the beginning.
    assert [found.until(end).end for end in (24, 23, 6, 5, 0, -1, -30)] == [24, 18, 6, 0, 0, -6, -24]
    assert Question.parse({"grain_s": 21_600}, DEFINITION).until(-30).end == -30
    assert Question.parse({}, DEFINITION).until(23).end == 23
    assert Question.parse({"grain_s": 3_600}, DEFINITION).panes == 1


def test_a_cube_without_a_time_has_no_interval() -> None:
    with pytest.raises(CubeError, match="grain_s 60: the cube has no time: leave it out"):
        Question.parse({"grain_s": 60}, TIMELESS)
    with pytest.raises(CubeError, match="the cube has no time: leave it out"):
        Question.parse({"from": "2013-07-10"}, TIMELESS)
