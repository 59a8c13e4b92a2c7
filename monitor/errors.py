"""The error for a sample, a sequence or a threshold with which the monitor cannot measure."""

from __future__ import annotations

from asc.errors import AscError


class MonitorError(AscError):
    """An error: a sample, a sequence or a threshold makes a measurement impossible.

    >>> print(MonitorError("sample", 0, "it needs at least one tuple"))
    sample 0: it needs at least one tuple
    """
