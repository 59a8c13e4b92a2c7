"""Repetitions that begin where a run of their characters begins."""

from __future__ import annotations

import pytest

from asc.predicate.regex.guarded_loops import guarded
from asc.predicate.regex.regular_expression import regular_expression

WHOLE = r"(?![\x{dc00}-\x{dfff}])"


def text_of(pattern: str, *, is_repeated: bool = False, is_from_start: bool = True) -> str | None:
    found = guarded(regular_expression(pattern), is_repeated=is_repeated, is_from_start=is_from_start)
    return None if found is None else found[0]


@pytest.mark.parametrize(
    ("pattern", "first", "each"),
    [
        ("\\d+ ", "(?<!\\d)\\d+ ", "(?<!\\d)\\d+ "),
        ("\\w+thy", "(?<!\\w)\\w+thy", "(?:\\G|(?<!\\w))\\w+thy"),
        ("\\s*,", "(?<!\\s)\\s*,", "(?<!\\s)\\s*,"),
        ("(a+)b", "((?<!a)a+)b", "((?<!a)a+)b"),
        ("(\\d+)?[a-z]+", "((?<!\\d)\\d+)?[a-z]+", "((?<!\\d)\\d+)?[a-z]+"),
        ("[^a]+a", f"(?<![^a]){WHOLE}[^a]+a", f"(?<![^a]){WHOLE}[^a]+a"),
        ("^\\s+|\\s+$", "^\\s+|(?<!\\s)\\s+$", "^\\s+|(?<!\\s)\\s+$"),
        ("a{3,}b", "(?<!a)a{3}a*b", "(?<!a)a{3}a*b"),
        # A match that ends within a run may leave the next one its beginning there, and each would read the rest.
        ("[ab]+c|b", "(?<![ab])[ab]+c|b", None),
        # Java's $ holds before a last \r\n, and the next match may begin with the \r.
        ("[a\\r]+$|[a\\r]+\\n", "(?<![a\\r])[a\\r]+$|(?<![a\\r])[a\\r]+\\n", None),
        # What may stand before the loop within a match is one of its characters.
        ("\\w?\\d+x", None, None),
        # It may match no text: Java tries one further after that, with nothing to tell where the last match ended.
        ("(\\d+x)?", None, None),
        ("(^|\\d+x)", None, None),
    ],
)
def test_the_text(pattern: str, first: str | None, each: str | None) -> None:
    assert text_of(pattern) == first
    assert text_of(pattern, is_repeated=True) == each


def test_a_search_that_may_start_within_a_character() -> None:
    assert text_of("[^a]+a", is_repeated=True, is_from_start=False) is None
    assert text_of("a+b", is_repeated=True, is_from_start=False) == "(?<!a)a+b"
