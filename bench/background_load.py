"""A background load: work in a thread while something else is measured."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def background_load(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Do some work in a thread; it gets the event that tells it to end. An exception of it is raised at the end."""
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
