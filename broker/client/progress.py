"""The progress of a large load, polled from the daemon while the load is sent."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from broker.answers.query import Load
from broker.client.errors import ClientError, RefusedError

Progress = Callable[[Load], None]

POLL_S = 0.5


@contextmanager
def followed(
    loads: Callable[[], Sequence[Load]], progress: Progress | None, poll_s: float | None = None
) -> Iterator[None]:
    """Enter a context in which a new thread calls ``progress`` repeatedly, each time with the largest change that the
    daemon is applying.

    ``loads``: a function that asks the daemon for the changes in progress. ``progress``: None starts no thread.
    ``poll_s``: the seconds between two calls; None means ``POLL_S``.
    """
    if progress is None:
        yield
        return
    over = threading.Event()
    arguments = (loads, progress, over, poll_s or POLL_S)
    threading.Thread(target=follow, args=arguments, name="asc-load-progress", daemon=True).start()
    try:
        yield
    finally:
        # The thread is not joined: if a user interrupts a load because the daemon does not answer, a join would wait
        # for the daemon's answer.
        over.set()


def follow(loads: Callable[[], Sequence[Load]], progress: Progress, over: threading.Event, poll_s: float) -> None:
    """Call ``progress`` with the largest change in progress every ``poll_s`` seconds, until ``over`` is set or the
    daemon refuses to answer.
    """
    while not over.wait(poll_s):
        try:
            in_progress = loads()
        except RefusedError:
            # The answer to the load request contains the same error, so the thread only ends.
            return
        except ClientError:
            continue
        if in_progress and not over.is_set():
            # The largest change is probably the load of this client; a larger change may be in progress at the same
            # time.
            progress(max(in_progress, key=lambda load: load["queries"]))
