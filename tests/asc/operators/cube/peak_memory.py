"""The most memory that some work takes, of Python, NumPy and Arrow, for tests."""

from __future__ import annotations

import ctypes
import tracemalloc
from collections.abc import Callable

import pyarrow as pa


def peak_bytes(work: Callable[[], object]) -> int:
    """Return the most bytes that work allocates: the peak of Python and NumPy, and that of Arrow, one on the other."""
    before = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(before)
    # Arrays that are kept somewhere may outlive it, and give their memory back to it: it is never freed.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(pool))
    pa.set_memory_pool(pool)
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] + int(pool.max_memory())
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(before)
