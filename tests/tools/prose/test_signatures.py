"""The line of code that a reader sees above a docstring."""

from __future__ import annotations

import textwrap

from tools.prose.docstrings import docstrings
from tools.prose.signatures import signatures

SOURCE = textwrap.dedent('''\
    """A module."""

    LIMIT = {"a": 1, "b": 2}
    """A limit."""


    class Outer(Base, frozen=True):
        """A class."""

        class Inner:
            """A class in it."""

            size: int = 1
            """A size."""

        @cached_property
        def value(self) -> int:
            """The value."""

        if True:
            async def ask(self, name: str, *rest: int, flag: bool = False) -> list[int]:
                """Return an answer."""
                def inside():
                    """Return it."""
    ''')


def test_each_docstring_has_the_line_that_it_documents() -> None:
    found = signatures("a/b.py", SOURCE)
    assert list(found) == [docstring.line for docstring in docstrings("a/b.py", SOURCE)]
    assert list(found.values()) == [
        "a/b.py",
        "LIMIT = {'a': 1, 'b': 2}",
        "class Outer(Base, frozen=True)",
        "class Outer.Inner",
        "Outer.Inner.size: int = 1",
        "@property def Outer.value(self) -> int",
        "async def Outer.ask(self, name: str, *rest: int, flag: bool=False) -> list[int]",
        "def inside()",
    ]


def test_a_long_line_is_cut() -> None:
    line = signatures("a.py", f"TABLE = ({'1, ' * 500})\n'''A table.'''")[2]
    assert line.startswith("TABLE = (1, 1,")
    assert line.endswith(" ...")
    assert len(line) < 250
