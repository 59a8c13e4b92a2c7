"""Control of Python's cyclic garbage collector in processes with millions of long-lived objects."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


def settle() -> None:
    """Collect the garbage, and exclude all present objects from future collections.

    The collector would visit a million queries again and again without freeing any. Objects that are dropped later are
    freed by their reference count.

    Cycles that are still in use are never freed, so do not call this while answering a request.
    """
    gc.collect()
    gc.freeze()


@contextmanager
def paused() -> Iterator[None]:
    """Pause the garbage collector while many long-lived objects are created."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
