"""The ledger of outputs finds each thing that can be wrong, and nothing where all is right."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from broker.consuming.consume import Delivery
from tools.faults.outputs import output_audit, time_s


def output(second: int, query: str = "q") -> Delivery:
    value = json.dumps({"query": query, "time": f"1970-01-01T00:00:{second:02}.500000Z"}).encode()
    return Delivery("out", 0, second, 0, b"k", value, (), (query,), None, identity=f"{query}:enter:{second}")


CALM = [output(second) for second in range(10)]


def test_equal_outputs_in_any_order_are_sound_and_repeats_are_counted() -> None:
    found = output_audit(CALM, reversed(CALM), written=13, until_s=60)
    assert found.sound
    assert str(found) == "10 outputs of operators, 3 of them again; equal to those without faults"


def test_what_is_later_is_not_looked_at() -> None:
    assert time_s(CALM[5]) == 5.5
    assert output_audit(CALM[:7], [*CALM[:6], output(30)], written=7, until_s=6.2).sound
    assert output_audit(CALM, CALM, written=10, until_s=6.2).outputs == 6


@pytest.mark.parametrize(
    ("arrived", "said"),
    [
        (CALM[1:], "1 missing (first: q:enter:0)"),
        ([*CALM, output(3, "p")], "1 unwanted (first: p:enter:3)"),
        ([replace(CALM[0], value=CALM[1].value), *CALM[1:]], "1 changed (first: q:enter:0: "),
        ([replace(CALM[0], key=None), *CALM[1:]], "1 changed (first: q:enter:0: "),
        ([replace(CALM[0], queries=("q", "p")), *CALM[1:]], "1 changed (first: q:enter:0: "),
        ([*CALM, CALM[4]], "1 changed (first: q:enter:4: not told as a repeat)"),
    ],
)
def test_what_is_wrong_is_found(arrived: list[Delivery], said: str) -> None:
    found = output_audit(CALM, arrived, written=20, until_s=60)
    assert not found.sound
    assert said in str(found)
