"""Strings and binaries: other layouts, prefixes, and their text."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from asc.keys.byte_strings import Binaries, Strings, quoted, starting_with
from asc.keys.constraint import Constraint
from asc.predicate.syntax.literal import string

STRINGS, BINARIES = Strings.of(pa.string()), Binaries.of(pa.binary())


@given(st.text(min_size=1, max_size=4), st.text(max_size=6))
def test_the_interval_of_a_prefix(prefix: str, text: str) -> None:
    interval = Constraint((starting_with(prefix),))
    assert interval.admits(text.encode()) == text.startswith(prefix)
    assert interval.admits((prefix + text).encode())


@given(st.text(max_size=12))
def test_a_quoted_string_is_read_back(text: str) -> None:
    assert string(quoted(text)) == text


def test_other_layouts_become_the_plain_one() -> None:
    assert STRINGS is not None
    assert BINARIES is not None
    for space, layouts in (
        (STRINGS, (pa.large_string(), pa.string_view())),
        (BINARIES, (pa.large_binary(), pa.binary_view())),
    ):
        plain = pa.array(["a", None, "bc"], pa.string()).cast(space.type)
        assert space.readable(plain) is plain
        assert all(space.readable(pa.array(plain.to_pylist(), layout)) == plain for layout in layouts)
    assert STRINGS.readable(pa.array([b"a"])) is None
    assert BINARIES.readable(pa.array(["a"])) is None


def test_text_of_bytes_that_are_no_utf8() -> None:
    assert STRINGS is not None
    assert STRINGS.text(b"a\xff") == r"'a\\xff'"
