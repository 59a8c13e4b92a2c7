"""The text of an answer: the JSON of all of it, within a bound."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.errors import CubeError
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.neighbours import drill_down, roll_up
from asc.operators.cube.question import Question
from broker.operators.cube import answer_text as answer_text_module
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
    least = 2 * (len(text) - len('{"rows":[]}'))
    assert least <= sum(reserved) <= 1.1 * least + 2_000


TEXTS = st.text(st.sampled_from('a"\\\x01\x7f\u00fc\u2028\U0001f600'), max_size=40)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
)


@given(rows=st.lists(st.dictionaries(TEXTS, VALUES, max_size=4), max_size=12), beside=VALUES)
def test_any_parts_are_the_json_of_the_answer(rows: list[dict[str, Any]], beside: object) -> None:
    found = {"beside": beside, "rows": rows}
    whole = json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode()
    for values, chars in ((1_000, 1 << 16), (3, 30), (2, 1)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(answer_text_module, "_VALUES_AT_ONCE", values)
            patch.setattr(answer_text_module, "_CHARS_AT_ONCE", chars)
            assert answer_text(found, lambda _size_bytes: None) == whole


LONG: dict[str, Callable[[], list[dict[str, Any]]]] = {
    # What came before says nothing of what follows.
    "many": lambda: [{"group": {"a": ""}}, *({"group": {"a": "\x01" * 10_000}} for _ in range(1_000))],
    "one": lambda: [{"group": {"a": ""}, "m": "\x01" * 10_000_000}],
    "names": lambda: [{"group": {}, **{f"{place}\x01" * 5_000: place for place in range(600)}}],
}


@pytest.mark.parametrize("name", LONG)
def test_no_more_is_made_than_a_part_before_it_is_reserved(name: str) -> None:
    found = {"rows": LONG[name]()}
    most_bytes, reserved = 8 << 20, 0

    def reserve(size_bytes: int) -> None:
        nonlocal reserved
        reserved += size_bytes
        if reserved > most_bytes:
            raise CubeError("question", most_bytes, "is too much")

    def refused() -> None:
        with pytest.raises(CubeError, match="is too much"):
            answer_text(found, reserve)

    assert peak_bytes(refused) <= most_bytes + (4 << 20)


def test_rows_beyond_the_bound_are_refused_before_they_are_all_made() -> None:
    # One text that all rows share, as a long name of a measure is.
    long = "x" * (ANSWER_BYTES_MAX // 128)
    reserved: list[int] = []
    with pytest.raises(CubeError, match="limit: gives rows of over 128 MiB: give a lower one, and go on by the cursor"):
        answer_text({"rows": [{"group": {"a": long}}] * 1_000}, reserved.append)
    assert sum(reserved) <= 2 * ANSWER_BYTES_MAX + 2 * len(long) + (1 << 20)


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
