"""Control of Python's cyclic garbage collector in processes with millions of long-lived objects."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


def settle() -> None:
    """Collect the garbage, and exclude all present objects from future collections.

    Otherwise the collector would visit a million queries again and again without freeing any. Excluded objects that are
    no longer referenced are still freed by their reference count, but not if they are part of a cycle. So do not call
    this function while a request is answered, because the objects of the request may contain cycles.
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
