"""A background load: work in a thread while a benchmark measures something else."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def background_load(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Run ``work`` in a thread until the block ends. ``work`` receives an event that is set when the block ends. If
    ``work`` raises an exception, raise the exception after the block.
    """
    ended = threading.Event()
    failures: list[Exception] = []

    def caught() -> None:
        try:
            work(ended)
        except Exception as error:
            failures.append(error)

    thread = threading.Thread(target=caught)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    if failures:
        raise failures[0]
