"""Counts of calls: a measure of work that is the same on every machine."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest


@contextmanager
def counted_calls(most: int) -> Iterator[Counter[str]]:
    """Count the calls of functions of Python and C by name. The test fails at once if there are more than ``most``."""
    calls: Counter[str] = Counter()
    left = most

    def count(frame: FrameType, event: str, function: Any) -> None:
        nonlocal left
        if event in ("call", "c_call"):
            calls[frame.f_code.co_name if event == "call" else function.__name__] += 1
            left -= 1
            if left < 0:
                sys.setprofile(None)
                pytest.fail(f"more than {most:,} calls: {calls.most_common(5)}")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield calls
    finally:
        sys.setprofile(before)
