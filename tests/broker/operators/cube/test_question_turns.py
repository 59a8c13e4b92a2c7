"""Turns of questions."""

from __future__ import annotations

from contextlib import ExitStack
from http import HTTPStatus

import pytest

from asc.errors import CubeError
from broker.cancellation import Cancellation
from broker.errors import CancelledError, SlowAnswerError, TooManyQuestionsError
from broker.operators.cube.question_turns import QUESTIONS_BYTES_MAX, QUESTIONS_MAX, QuestionTurns


def test_no_more_are_answered_than_may_be_and_none_waits() -> None:
    turns = QuestionTurns()
    with ExitStack() as asked:
        for _ in range(QUESTIONS_MAX):
            asked.enter_context(turns.turn(60))
        said = f"questions {QUESTIONS_MAX}: are answered now: ask again"
        with pytest.raises(TooManyQuestionsError, match=said) as refused:
            turns.turn(60).__enter__()
        assert refused.value.http_status == HTTPStatus.TOO_MANY_REQUESTS
    with turns.turn(60) as reserve:
        reserve(0)


def test_a_turn_is_given_back_whatever_happens() -> None:
    turns = QuestionTurns(1)
    for _ in range(2):
        with (
            pytest.raises(SlowAnswerError, match=r"question '0 s': took the answer, .* raise cube_query_s"),
            turns.turn(0) as reserve,
        ):
            reserve(0)
    cancelled = Cancellation()
    cancelled.cancel("the caller is gone")
    with pytest.raises(CancelledError, match="the caller is gone"), turns.turn(60, cancelled) as reserve:
        reserve(0)
    with turns.turn(60, Cancellation()) as reserve:
        reserve(0)


def test_all_questions_together_hold_no_more_bytes_than_may_be() -> None:
    turns = QuestionTurns()
    with turns.turn(60) as first:
        first(QUESTIONS_BYTES_MAX - 10)
        with turns.turn(60) as second:
            second(10)
            with pytest.raises(
                TooManyQuestionsError, match="bytes of cells '2,147,483,648': are held by the questions"
            ):
                second(1)
        # What is refused holds nothing any more.
        with turns.turn(60) as third:
            third(10)
        with pytest.raises(CubeError, match="shorter interval, or fewer cuboids"):
            first(11)
    assert turns.size_bytes == 0
