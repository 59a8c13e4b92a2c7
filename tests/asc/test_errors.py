"""Errors: one line each, and carets under the trouble."""

from __future__ import annotations

import pytest

from asc.errors import _VALUE_CHARS, AscError, PredicateError


def test_one_line_whatever_the_value() -> None:
    assert str(AscError("unknown column", "a\nb", "look again")) == r"unknown column 'a\nb': look again"


@pytest.mark.parametrize(
    ("text", "start", "end", "caret"),
    [
        ("a > 1", 0, 1, "a > 1\n^"),
        ("a > 1 AND\nbb < 2\nOR c", 10, 12, "bb < 2\n^^"),
        ("a > 1 AND\nbb", 6, 12, "a > 1 AND\n      ^^^"),
        ("a >", 3, 3, "a >\n   ^"),
        ("a >", None, None, ""),
        (
            "a = 1 AND " * 50 + "bb" + " AND a = 1" * 50,
            500,
            502,
            "..." + "a = 1 AND " * 3 + "bb" + " AND a = 1" * 2 + " AND a =..." + "\n" + " " * 33 + "^^",
        ),
        ("bb" + " AND a = 1" * 50, 0, 2, "bb" + " AND a = 1" * 5 + " AND a =...\n^^"),
        ("a = 1 AND " * 50 + "bb", 500, 502, "..." + ("a = 1 AND " * 6)[2:] + "bb\n" + " " * 61 + "^^"),
        ("x" * 500, 0, 500, "x" * 60 + "...\n" + "^" * 60),
    ],
    ids=[
        "start",
        "second line",
        "to the end of its line",
        "past the end",
        "no position",
        "amid a long line",
        "at its start",
        "at its end",
        "all of it",
    ],
)
def test_carets_stay_in_the_line(text: str, start: int | None, end: int | None, caret: str) -> None:
    assert PredicateError("x", "y", "z", text=text, start=start, end=end).caret() == caret


def test_of_a_long_value_the_beginning_is_shown() -> None:
    text = str(AscError("unknown query", "x" * 60_000, "known are a, b"))
    assert text.startswith("unknown query 'xxx")
    assert text.endswith("xxx...: known are a, b")
    assert len(text) < 500
    # Quotes and the blank before them count with the value.
    shown = "x" * (_VALUE_CHARS - 3)
    assert str(AscError("query", shown, "known are a, b")) == f"query '{shown}': known are a, b"
    assert "...: known" in str(AscError("query", shown + "x", "known are a, b"))


def test_a_message_is_one_line_of_500_characters_whatever_it_is_made_of() -> None:
    text = str(AscError("header " + "x" * 400, "y" * 400, "one\ntwo"))
    assert (len(text), text.endswith("...")) == (500, True)
    assert str(AscError("file", "x", "one\ntwo\r\nthree\u2028four")) == "file 'x': one"
