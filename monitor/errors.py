"""The error for input that the monitor cannot measure."""

from __future__ import annotations

from asc.errors import AscError


class MonitorError(AscError):
    """A sample, a sequence or a threshold that nothing can be measured with.

    >>> print(MonitorError("sample", 0, "it needs at least one tuple"))
    sample 0: it needs at least one tuple
    """
