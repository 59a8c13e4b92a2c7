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
    """Call ``progress`` from a new thread until the context ends, each time with the progress of the largest change
    that the daemon is applying.
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
        # Not joined: a user interrupts a load because the daemon does not answer, and a join would wait for its answer.
        over.set()


def follow(loads: Callable[[], Sequence[Load]], progress: Progress, over: threading.Event, poll_s: float) -> None:
    """Call ``progress`` until the load is over, or the daemon refuses to answer."""
    while not over.wait(poll_s):
        try:
            in_progress = loads()
        except RefusedError:
            # The answer to the load itself names its error.
            return
        except ClientError:
            continue
        if in_progress and not over.is_set():
            # The largest load is probably this one; a larger one may be in progress at the same time.
            progress(max(in_progress, key=lambda load: load["queries"]))
