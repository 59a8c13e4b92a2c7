"""Inputs are tried, made smaller where one fails, and made again from their seed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tools.fuzz.journal import Journal
from tools.fuzz.target import Target, Violation
from tools.fuzz.trials import Trials, generate, generate_round, one_line


class Bytes(Target):
    """Refuses what has three bytes or more, with a smaller input where that is eight."""

    name, input_s, growth_mb = "bytes", 1.0, 10
    settled = 0

    def inputs(self) -> SearchStrategy[bytes]:
        return st.binary(max_size=40)

    def check(self, given: bytes) -> None:
        if given == b"12345678":
            raise Violation("is eight", b"8")
        if len(given) >= 3:
            raise KeyError("three\nor more")

    def settle(self) -> None:
        self.settled += 1


def test_the_smallest_input_that_fails_is_left_in_the_journal(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    target = Bytes()
    with pytest.raises(KeyError):
        generate(target, Trials(target, journal), seconds=60, seed=1)
    assert journal.given() == b"\0\0\0"
    assert journal.found() == "KeyError: 'three\\nor more'"
    assert journal.entry().busy_s > 0


def test_a_violation_can_name_a_smaller_input(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    with pytest.raises(Violation):
        Trials(Bytes(), journal)(b"12345678")
    assert (journal.given(), journal.found()) == (b"8", "is eight")


def test_rounds_end_with_the_time_and_are_settled() -> None:
    target, tried = Bytes(), list[bytes]()
    generate(target, tried.append, seconds=0.0, seed=1)
    assert (target.settled, tried) == (1, [])
    generate_round(target, tried.append, inputs=20, seed=1)
    again: list[bytes] = []
    generate_round(target, again.append, inputs=20, seed=1)
    assert again == tried
    assert len(tried) == 20


def test_an_error_is_told_in_one_line() -> None:
    assert one_line(RuntimeError("a\n b")) == "RuntimeError: a b"
    assert one_line(Violation("what\nit says")) == "what it says"
