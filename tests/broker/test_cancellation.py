"""The cancellation of work: by its own mark, by that of the daemon, and while another thread is waited for."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from threading import Event

import pytest

from broker.cancellation import Cancellation
from broker.errors import CancelledError


def test_one_within_another_is_cancelled_with_it() -> None:
    of_daemon = Cancellation()
    first, second = Cancellation(of_daemon), Cancellation(of_daemon)
    first.cancel("its client is gone")
    second.check()
    assert of_daemon.reason is None
    of_daemon.cancel("the daemon stops")
    assert (first.reason, second.reason) == ("its client is gone", "the daemon stops")
    with pytest.raises(CancelledError, match=r"^request: was cancelled, for the daemon stops: send it again$"):
        second.check()


def test_one_who_waits_stops_when_it_is_cancelled() -> None:
    cancellation, asked = Cancellation(), Future[int]()
    with ThreadPoolExecutor(1) as beside:
        waiting = beside.submit(cancellation.result, asked, None)
        cancellation.cancel("its client is gone")
        with pytest.raises(CancelledError):
            waiting.result(60)


def test_a_result_and_its_errors_are_given_on_and_time_is_bounded() -> None:
    release = Event()
    with ThreadPoolExecutor(1) as beside:
        assert Cancellation().result(beside.submit(lambda: 7), 60) == 7
        with pytest.raises(ZeroDivisionError):
            Cancellation().result(beside.submit(lambda: 1 // 0), None)
        with pytest.raises(FutureTimeoutError):
            Cancellation().result(beside.submit(release.wait), 0.01)
        release.set()
