"""The progress of a load is asked for while it is sent, by a thread that ends with it."""

from __future__ import annotations

import threading

from broker.answers.query import Load
from broker.client.errors import NoAnswerError, RefusedError
from broker.client.progress import followed


def test_the_largest_load_is_shown_and_a_daemon_that_is_slow_is_asked_again() -> None:
    small: Load = {"queries": 3, "read": 1, "done": None}
    large: Load = {"queries": 9, "read": 4, "done": "read"}
    answers: list[list[Load] | Exception] = [NoAnswerError("daemon", "", "is slow"), [], [small, large]]
    seen: list[Load] = []
    came = threading.Event()

    def loads() -> list[Load]:
        answer = answers.pop(0) if answers else []
        if isinstance(answer, Exception):
            raise answer
        return answer

    def progress(load: Load) -> None:
        seen.append(load)
        came.set()

    with followed(loads, progress, poll_s=0.001):
        assert came.wait(10)
    assert seen == [large]


def test_a_refusal_ends_the_questions_and_without_a_callback_there_are_none() -> None:
    refused = threading.Event()

    def loads() -> list[Load]:
        assert not refused.is_set()
        refused.set()
        raise RefusedError("path", "", "is not known", status=404)

    with followed(loads, lambda load: None, poll_s=0.001):
        assert refused.wait(10)
        (thread,) = [one for one in threading.enumerate() if one.name == "asc-load-progress"] or [None]
        if thread is not None:
            thread.join(10)
    with followed(loads, None):
        assert not [one for one in threading.enumerate() if one.name == "asc-load-progress"]
