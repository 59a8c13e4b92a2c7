"""The text of an answer: the JSON of all of it, within a bound."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from asc.errors import CubeError
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.neighbours import drill_down, roll_up
from asc.operators.cube.question import Question
from broker.operators.cube.answer_text import ANSWER_BYTES_MAX, BESIDE_BYTES_MAX, answer_text
from tests.asc.operators.cube.peak_memory import peak_bytes


def rows(count: int, width: int = 3) -> list[dict[str, Any]]:
    return [{"group": {"a": f"{each}".rjust(width, "ü")}, "n": each, "d": None, "m": 1 / 3} for each in range(count)]


@pytest.mark.parametrize("count", [0, 1, 2, 1_001, 1_002, 3_000])
def test_it_is_the_json_of_the_answer(count: int) -> None:
    reserved: list[int] = []
    found = {"interval": None, "rows": rows(count), "cursor": "7-9", "gaps": [{"from": "x"}]}
    text = answer_text(found, reserved.append)
    assert json.loads(text) == found
    # The parts and the whole, but for braces.
    assert 2 * (len(text) - len('{"rows":[]}')) == sum(reserved)


def test_rows_beyond_the_bound_are_refused_before_they_are_all_made() -> None:
    # One text that all rows share, as a long name of a measure is.
    long = "x" * (ANSWER_BYTES_MAX // 128)
    reserved: list[int] = []
    with pytest.raises(CubeError, match="limit: gives rows of over 128 MiB: give a lower one, and go on by the cursor"):
        answer_text({"rows": [{"group": {"a": long}}] * 1_000}, reserved.append)
    assert sum(reserved) <= 2 * ANSWER_BYTES_MAX + 2 * len(long) + 100


def test_an_answer_takes_no_more_than_is_reserved() -> None:
    # Of ASCII in one part a row, so that the text before it is bytes, and what is in work, are small.
    found = {"interval": None, "rows": [{"group": {}, "m": "x" * (1 << 20)}] * 32}
    reserved: list[int] = []
    peak = peak_bytes(lambda: answer_text(found, reserved.append))
    assert peak <= sum(reserved) + (4 << 20)


def test_questions_beside_an_answer_are_refused_beyond_the_bound_before_they_are_all_made() -> None:
    names = [f"c{place}" for place in range(12)]
    definition = CubeDefinition.parse(
        {"dimensions": [[own] for own in names], "measures": ["count(*)"]}, needs_time=False
    )
    by = [list(itertools.compress(names, bits)) for bits in itertools.product((0, 1), repeat=12)]
    question = Question.parse({"by": by, "where": f"c0 = '{'x' * 19_000}'"}, definition)
    dimensions = definition.dimensions
    found = {"rows": [], "roll_up": roll_up(question, dimensions), "drill_down": drill_down(question, dimensions)}
    reserved: list[int] = []
    with pytest.raises(CubeError, match="by: gives roll_up and drill_down of over 32 MiB: name fewer cuboids or"):
        answer_text(found, reserved.append)
    assert 2 * BESIDE_BYTES_MAX <= sum(reserved) <= 2 * BESIDE_BYTES_MAX + (4 << 20)
    # Without a long text the questions of all cuboids are far within it.
    found = {name: [{"by": body["by"]} for body in own] for name, own in found.items()}
    assert json.loads(answer_text(found, reserved.append)) == found
