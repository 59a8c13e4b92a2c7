"""Turns of questions."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from asc.errors import CubeError
from broker.cancellation import Cancellation
from broker.errors import CancelledError, SlowAnswerError, TooManyQuestionsError
from broker.operators.cube.question_turns import QUESTIONS_BYTES_MAX, QUESTIONS_MAX, QuestionTurns
from tests.asc.operators.cube.peak_memory import peak_bytes
from tests.broker.operators.cube.kept_stream import MINUTE_US, Record, Topic, batch, cube_id, definition, opened


def test_no_more_are_answered_than_may_be_and_none_waits() -> None:
    turns = QuestionTurns()
    with ExitStack() as asked:
        for _ in range(QUESTIONS_MAX):
            asked.enter_context(turns.turn(60))
        said = f"questions {QUESTIONS_MAX}: are answered now: ask again"
        with pytest.raises(TooManyQuestionsError, match=said) as refused:
            turns.turn(60).__enter__()
        assert refused.value.http_status == HTTPStatus.TOO_MANY_REQUESTS
    with turns.turn(60) as turn:
        turn.reserve(0)


def test_a_turn_is_given_back_whatever_happens() -> None:
    turns = QuestionTurns(1)
    remedy = r"question '0 s': took the answer, .* fewer cuboids, or raise cube_query_s"
    for _ in range(2):
        with pytest.raises(SlowAnswerError, match=remedy), turns.turn(0) as turn:
            turn.reserve(0)
    cancelled = Cancellation()
    cancelled.cancel("the caller is gone")
    with pytest.raises(CancelledError, match="the caller is gone"), turns.turn(60, cancelled) as turn:
        turn.reserve(0)
    with turns.turn(60, Cancellation()) as turn:
        turn.reserve(0)


def test_all_questions_together_hold_no_more_bytes_than_may_be() -> None:
    turns = QuestionTurns()
    with turns.turn(60) as first:
        first.reserve(QUESTIONS_BYTES_MAX - 10)
        with turns.turn(60) as second:
            second.reserve(10)
            with pytest.raises(
                TooManyQuestionsError, match="bytes of memory '2,147,483,648': are held by the questions"
            ):
                second.reserve(1)
        # What is refused holds nothing any more.
        with turns.turn(60) as third:
            third.reserve(10)
        with pytest.raises(CubeError, match="a shorter interval, fewer cuboids, or a lower limit"):
            first.reserve(11)
    assert turns.size_bytes == 0


class CountedTurns(QuestionTurns):
    """Turns that know the most bytes that were reserved."""

    most_held = 0

    def hold(self, size_bytes: int) -> bool:
        is_over = super().hold(size_bytes)
        self.most_held = max(self.most_held, self.size_bytes)
        return is_over


def spread(each: int) -> Record:
    return f"{each:05}".ljust(500, "x"), "JFK", each, each * MINUTE_US // 40


def dense(each: int) -> Record:
    return f"{each % 3_000:05}\N{GRINNING FACE}" * 20, "JFK", each, each


@pytest.mark.parametrize("record", [spread, dense], ids=["many panes", "many pieces of an open pane"])
@pytest.mark.parametrize("body", [{"by": [["carrier"], []], "limit": 100_000}, {"where": "carrier > '00100'"}])
def test_a_question_takes_no_more_memory_than_it_reserves(
    tmp_path: Path, record: Callable[[int], Record], body: dict[str, Any]
) -> None:
    own, late = definition(), cube_id("late", definition())
    topic = Topic(partitions={0: [record(each) for each in range(6_000)]})
    keeper = opened(tmp_path)
    keeper.define(late, own)
    for first in range(0, 6_000, 1_000):
        topic.commit(keeper, batch(first, first + 1_000), {late: own})
    keeper.questions.query_text(late, {"live": True, **body})
    keeper.close()
    # Nothing is in memory yet.
    keeper = opened(tmp_path)
    keeper.questions._turns = turns = CountedTurns()
    found: list[bytes] = []
    peak = peak_bytes(lambda: found.append(keeper.questions.query_text(late, {"live": True, **body})))
    assert peak <= turns.most_held + (1 << 20)
    assert turns.size_bytes == 0
    assert json.loads(found[0]) == keeper.questions.query(late, {"live": True, **body})
    keeper.close()
