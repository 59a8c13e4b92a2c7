"""Tokens: each is a piece of the user's own text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.errors import PredicateError
from asc.predicate.syntax.nodes import Source
from asc.predicate.syntax.tokens import END, HEX, NUMBER, QUOTED, RAW_STRING, STRING, WORD, tokens_of

PIECES = {
    "a": WORD,
    "größe": WORD,
    "AND": WORD,
    "SHOW": WORD,
    "5": NUMBER,
    ".5": NUMBER,
    "1e3BD": NUMBER,
    "12L": NUMBER,
    "'it\\'s'": STRING,
    '"x"': STRING,
    "r'\\d'": RAW_STRING,
    "X'0aF'": HEX,
    "`a b`": QUOTED,
    "<=>": "<=>",
    ">>>": ">>>",
    "::": "::",
    "(": "(",
    "||": "||",
}


@given(st.lists(st.sampled_from(sorted(PIECES)), min_size=1, max_size=8))
def test_pieces_between_blanks_are_tokens(pieces: list[str]) -> None:
    text = "  ".join(pieces)
    *tokens, first_end, second_end = tokens_of(Source(text))
    assert [text[token.start : token.end] for token in tokens] == pieces
    assert [token.kind for token in tokens] == [PIECES[piece] for piece in pieces]
    assert (first_end.kind, second_end.kind, first_end.start) == (END, END, len(text))


def test_words_in_upper_case_and_comments_left_out() -> None:
    tokens = tokens_of(Source("is not /* or */ null -- and"))
    assert [token.word for token in tokens] == ["IS", "NOT", "NULL", "", ""]


def test_shifts_and_negated_comparisons_are_one_token() -> None:
    tokens = tokens_of(Source("a << b >>> c !< d ! < '/*+'"))
    assert [token.kind for token in tokens if token.kind in ("<<", ">>>", "!<", "!", "<")] == [
        "<<",
        ">>>",
        "!<",
        "!",
        "<",
    ]


@pytest.mark.parametrize("text", ["'open", "a ; b", "5a", "a{b", "1.5x", "`a`5", "a /*+ b */", "a -- b\\\n"])
def test_what_spark_has_no_token_for(text: str) -> None:
    with pytest.raises(PredicateError):
        tokens_of(Source(text))
