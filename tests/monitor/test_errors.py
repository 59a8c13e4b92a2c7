"""What the monitor cannot measure is told as every error of the engine is."""

from __future__ import annotations

from asc.errors import AscError
from monitor.errors import MonitorError


def test_subject_value_and_remedy_in_one_line() -> None:
    error = MonitorError("sample", "a\nb", "it needs tuples")
    assert isinstance(error, AscError)
    assert str(error) == r"sample 'a\nb': it needs tuples"
