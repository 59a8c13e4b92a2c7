"""Python's cyclic collector beside millions of objects that stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


def settle() -> None:
    """Collect the garbage, and have the collector pass over all objects of now from here on.

    It would walk over a million queries again and again, and never free one. Objects that are dropped later are freed
    by their reference count, as ever.

    Cycles that are still in use are kept for good, so it is not to be called where a request is answered.
    """
    gc.collect()
    gc.freeze()


@contextmanager
def paused() -> Iterator[None]:
    """Pause the garbage collector while many objects are made that stay."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
