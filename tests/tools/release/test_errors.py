"""What stands against a release is one line."""

from __future__ import annotations

from asc.errors import AscError
from tools.release.errors import ReleaseError


def test_it_is_one_line_of_subject_value_and_remedy() -> None:
    error = ReleaseError("wheel without", "asc/py.typed", "declare it")
    assert isinstance(error, AscError)
    assert str(error) == "wheel without 'asc/py.typed': declare it"
