"""Python's cyclic collector beside millions of objects that stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


def settle() -> None:
    """Collect what is garbage, and have the collector pass over all that is there from now on: it would walk over a
    million queries again and again, and never free one. What is dropped later goes by its count, as ever.

    Cycles that are still in use are kept for good, so it is not to be called where a request is answered.
    """
    gc.collect()
    gc.freeze()


@contextmanager
def paused() -> Iterator[None]:
    """While many objects are made that stay: nothing is collected before the end."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
