"""The coarsest views from which questions can be answered."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.operators.cube.cuboid import Dimensions
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.lattice import Lattice
from asc.operators.cube.layout import Layout
from asc.operators.cube.question import Question
from asc.operators.cube.source import needed_columns
from asc.operators.cube.view import View
from asc.operators.cube.wanted import Wanted, wanted_by, wanted_of_output
from asc.schema import Schema

DEFINITION = CubeDefinition.parse(
    {"dimensions": [["origin", "dest"], ["carrier"]], "measures": ["count(*)"], "time": "t", "grain_s": 3_600}
)
LAYOUT = Layout.of(DEFINITION, Schema.from_ddl("origin STRING, dest STRING, carrier STRING, t TIMESTAMP"))
LATTICE = Lattice(DEFINITION.dimensions, 3_600)
JULY_10 = 15_896 * 24
DAY = {"from": "2013-07-10", "to": "2013-07-11"}


@pytest.mark.parametrize(
    ("body", "view"),
    [
        ({}, View((0, 0), 24)),
        ({"by": ["origin"], **DAY}, View((1, 0), 24)),
        ({"by": ["origin"], "where": "carrier = 'B6'", **DAY}, View((1, 1), 24)),
        ({"by": ["carrier"], "where": "dest = 'BOS' OR carrier = 'B6'", **DAY}, View((2, 1), 24)),
        ({"by": [["origin"], ["carrier"], []], **DAY}, View((1, 1), 24)),
        ({"from": "2013-07-10T06:00:00Z", "to": "2013-07-10T18:00:00Z"}, View((0, 0), 6)),
        ({"grain_s": 7_200, **DAY}, View((0, 0), 2)),
    ],
)
def test_a_question_wants_the_coarsest_view_that_answers_it(body: dict[str, Any], view: View) -> None:
    question = Question.parse(body, DEFINITION)
    columns = needed_columns(LAYOUT, question)
    (part,) = wanted_by(LATTICE, question, columns, first=JULY_10 - 48, end=JULY_10 + 48)
    assert part.view == view
    assert part.panes == (96 if question.first is None else (question.end or 0) - question.first)


def test_an_interval_within_days_wants_days_and_its_edges() -> None:
    body = {"from": "2013-07-08T07:00:00Z", "to": "2013-07-11T12:00:00Z"}
    question = Question.parse(body, DEFINITION)
    found = wanted_by(LATTICE, question, (), first=0, end=JULY_10 + 100)
    levels = (0, 0)
    assert found == (Wanted(View(levels, 1), 17), Wanted(View(levels, 24), 48), Wanted(View(levels, 12), 12))
    # A grain is kept.
    question = Question.parse({**body, "from": "2013-07-08T06:00:00Z", "grain_s": 3_600 * 6}, DEFINITION)
    assert wanted_by(LATTICE, question, (), first=0, end=JULY_10 + 100) == (Wanted(View(levels, 6), 78),)


@given(st.integers(-300, 300), st.integers(1, 300), st.none() | st.sampled_from([1, 2, 3, 6, 24]))
def test_the_parts_cover_the_interval_with_no_more_panes_than_one_view(
    first: int, count: int, step: int | None
) -> None:
    lattice = Lattice(Dimensions(()), 3_600)
    if step is not None:
        first, count = first - first % step, count - count % step + step
    question = Question(((),), ((),), first=first, end=first + count, panes=step)
    found = wanted_by(lattice, question, (), first=-1_000, end=1_000)
    assert 1 <= len(found) <= 3
    at = first
    for part in found:
        assert at % part.view.panes == part.panes % part.view.panes == (step or 0) % part.view.panes == 0
        at += part.panes
    assert at == first + count
    assert sum(part.panes // part.view.panes for part in found) <= count // lattice.longest(first, count, step)


def test_no_question_reads_panes_that_are_not_kept() -> None:
    question = Question(((0, 0),), ((),), first=0, end=96)
    assert wanted_by(LATTICE, question, (), first=24, end=48) == (Wanted(View((0, 0), 24), 24),)
    assert wanted_by(LATTICE, question, (), first=96, end=120) == ()


def test_an_output_wants_a_length_that_divides_window_and_slide() -> None:
    assert wanted_of_output(LATTICE, (0, 1), window=24, slide=1) == Wanted(View((0, 1), 1), 24)
    assert wanted_of_output(LATTICE, (0, 1), window=36, slide=12) == Wanted(View((0, 1), 12), 36)
