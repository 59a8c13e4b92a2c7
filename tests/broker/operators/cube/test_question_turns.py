"""Turns of questions."""

from __future__ import annotations

from contextlib import ExitStack
from http import HTTPStatus

import pytest

from broker.cancellation import Cancellation
from broker.errors import CancelledError, SlowAnswerError, TooManyQuestionsError
from broker.operators.cube.question_turns import QUESTIONS_MAX, QuestionTurns


def test_no_more_are_answered_than_may_be_and_none_waits() -> None:
    turns = QuestionTurns()
    with ExitStack() as asked:
        for _ in range(QUESTIONS_MAX):
            asked.enter_context(turns.turn(60))
        said = f"questions {QUESTIONS_MAX}: are answered now: ask again"
        with pytest.raises(TooManyQuestionsError, match=said) as refused:
            turns.turn(60).__enter__()
        assert refused.value.http_status == HTTPStatus.TOO_MANY_REQUESTS
    with turns.turn(60) as check:
        check()


def test_a_turn_is_given_back_whatever_happens() -> None:
    turns = QuestionTurns(1)
    for _ in range(2):
        with (
            pytest.raises(SlowAnswerError, match=r"question '0 s': took the answer, .* raise cube_query_s"),
            turns.turn(0) as check,
        ):
            check()
    cancelled = Cancellation()
    cancelled.cancel("the caller is gone")
    with pytest.raises(CancelledError, match="the caller is gone"), turns.turn(60, cancelled) as check:
        check()
    with turns.turn(60, Cancellation()) as check:
        check()
