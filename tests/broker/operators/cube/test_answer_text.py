"""The text of an answer: the JSON of all of it, within a bound."""

from __future__ import annotations

import json
from typing import Any

import pytest

from asc.errors import CubeError
from broker.operators.cube.answer_text import ANSWER_BYTES_MAX, answer_text


def rows(count: int, width: int = 3) -> list[dict[str, Any]]:
    return [{"group": {"a": f"{each}".rjust(width, "ü")}, "n": each, "d": None, "m": 1 / 3} for each in range(count)]


@pytest.mark.parametrize("count", [0, 1, 2, 1_001, 1_002, 3_000])
def test_it_is_the_json_of_the_answer(count: int) -> None:
    reserved: list[int] = []
    found = {"interval": None, "rows": rows(count), "cursor": "7-9", "gaps": [{"from": "x"}]}
    text = answer_text(found, reserved.append)
    assert json.loads(text) == found
    # The parts and the whole, but for brackets and commas.
    of_rows = len(json.dumps(found["rows"], ensure_ascii=False, separators=(",", ":")).encode())
    assert 2 * (of_rows - 2 - len(reserved)) <= sum(reserved) <= 2 * of_rows


def test_rows_beyond_the_bound_are_refused_before_they_are_all_made() -> None:
    # One text that all rows share, as a long name of a measure is.
    long = "x" * (ANSWER_BYTES_MAX // 128)
    reserved: list[int] = []
    with pytest.raises(CubeError, match="limit: gives rows of over 128 MiB: give a lower one, and go on by the cursor"):
        answer_text({"rows": [{"group": {"a": long}}] * 1_000}, reserved.append)
    assert sum(reserved) <= 2 * ANSWER_BYTES_MAX + 2 * len(long) + 100
