"""Docstrings of a file: of functions that begin with a verb, and of all else."""

from __future__ import annotations

import pytest

from tools.prose.docstrings import docstrings
from tools.prose.errors import ProseError

SOURCE = '''"""Module."""

BOUND = 3
"""Constant."""


class A:
    """Class."""

    @property
    def value(self):
        """Value."""

    @functools.cache
    def read(self):
        """Read it.

        More.
        """
        "a string that is no docstring"

        async def inner():
            """Write it."""


if True:

    @pytest.fixture(scope="module")
    def pages():
        """Pages."""

    def test_pages():
        """Test."""
'''


def test_every_docstring_is_found_with_its_line_and_whether_a_verb_begins_it() -> None:
    found = {one.text.split()[0]: (one.line, one.is_of_function) for one in docstrings("a.py", SOURCE)}
    assert found["Module."] == (1, False)
    assert found["Constant."] == (4, False)
    assert found["Class."] == (8, False)
    assert found["Value."] == (12, False)
    assert found["Read"] == (16, True)
    assert found["Write"] == (23, True)
    assert found["Pages."] == (30, False)
    assert found["Test."] == (33, False)


def test_a_file_that_is_no_python_is_named_with_the_line() -> None:
    with pytest.raises(ProseError, match=r"Python file 'a.py': mend line 2: "):
        list(docstrings("a.py", "x = 1\ndef f(:\n"))
