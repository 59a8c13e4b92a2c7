"""The tokenizer: it uses sqlglot's tokenizer of the Spark dialect and checks the result against the tokens of Spark.

Every token is cut from the user's text by its position, never taken from sqlglot's rendering. sqlglot rewrites number
suffixes into casts and decodes strings by other rules than Spark.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError

from asc.predicate.syntax.nodes import Source

WORD, QUOTED, STRING, RAW_STRING, HEX, NUMBER, END = "word", "quoted", "string", "raw", "hex", "number", "end"

_LETTER = r"(?:[A-Za-z_]|(?![\x00-\x7F])[^\W\d])"
_NAME = rf"{_LETTER}(?:{_LETTER}|[0-9])*"
_WORDS = re.compile(rf"{_NAME}(?:\s+{_NAME})+\Z")
_ANY_WORD = re.compile(r"\w+")
_KINDS = {
    WORD: _NAME,
    NUMBER: r"[0-9]+[LSYlsy]|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[Ee][+-]?[0-9]+)?(?:[Bb][Dd]|[FDfd])?",
    STRING: r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""",
    QUOTED: r"`(?:[^`]|``)+`",
    HEX: r"[xX]'[0-9A-Fa-f]*'",
    RAW_STRING: r"""[rR](?:'[^']*'|"[^"]*")""",
}
_TOKEN = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS.items()), re.DOTALL)
_SYMBOL_LIST = "( ) [ ] , . = == <> != < <= > >= <=> + - * / % || & | ^ ~ ! : :: ->"
_SYMBOLS = frozenset(_SYMBOL_LIST.split())
_JOINED = ("<<", ">>", ">>>", "!<", "!>")

_NAME_LIKE = (WORD, QUOTED, NUMBER, "]", ")")


class Token(NamedTuple):
    """A token of a text. ``kind`` is the kind of the token, such as NUMBER; the kind of a symbol is the symbol itself.

    ``word`` is the word in upper case, or empty for a token that is no word.
    """

    kind: str
    word: str
    start: int
    end: int


@cache
def _tokenizer() -> Spark.Tokenizer:
    return Spark.Tokenizer()


def tokens_of(source: Source) -> list[Token]:
    """Return the tokens of a text, followed by two tokens of kind END.

    Raise PredicateError for a text that Spark's lexer does not accept.
    """
    text = source.text
    try:
        # without the parenthesis sqlglot reads a text that begins with SHOW or a similar word as a command
        scanned = _tokenizer().tokenize("(" + text)[1:]
    except (SqlglotError, ValueError, OverflowError):
        raise source.error("text cannot be read", text[:60], "is a quote or a comment left open?", 0, 1) from None
    tokens: list[Token] = []
    last_start = -1
    for scan in scanned:
        start, end = scan.start - 1, scan.end
        if start == last_start:
            continue  # sqlglot emits a number's suffix as further tokens with the same span
        last_start = start
        raw = text[start:end]
        if tokens and tokens[-1].end == start and tokens[-1].kind + raw in _JOINED:
            # sqlglot splits these operators into single characters
            before = tokens.pop()
            tokens.append(Token(before.kind + raw, "", before.start, end))
            continue
        if raw in _SYMBOLS:
            tokens.append(Token(raw, "", start, end))
            continue
        kind = _kind(raw)
        if kind:
            if kind == NUMBER and tokens and tokens[-1].kind == "." and tokens[-1].end == start:
                start = tokens.pop().start  # sqlglot splits .5
            if tokens and tokens[-1].end == start:
                _check_apart(source, tokens[-1], kind, end)
            tokens.append(Token(kind, raw.upper() if kind == WORD else "", start, end))
        elif _WORDS.match(raw):
            tokens += [
                Token(WORD, m.group().upper(), start + m.start(), start + m.end()) for m in _ANY_WORD.finditer(raw)
            ]
        else:
            remedy = "between conditions write AND" if raw == "&&" else "Spark SQL has no such token in an expression"
            raise source.error("unexpected", raw[:60], remedy, start, end)
    if "/*+" in text or "\\\n" in text:
        _check_comments(source, tokens)
    # two, because the parser looks one token further
    tokens += [Token(END, "", len(text), len(text))] * 2
    return tokens


def _kind(raw: str) -> str | None:
    """Return the kind of a token from its text, for a token that is no symbol. Return None if Spark's lexer does not
    read the text as one token.
    """
    if raw.isascii():
        # nearly all tokens are words or numbers, recognised without the pattern
        if raw.isidentifier():
            return WORD
        if raw.isdigit():
            return NUMBER
    match = _TOKEN.fullmatch(raw)
    return match and match.lastgroup


def _check_comments(source: Source, tokens: list[Token]) -> None:
    """Raise PredicateError for a comment that Spark reads differently.

    Spark reads ``/*+`` as a hint, and continues a comment after a backslash at the end of a line.
    """
    ends = [0, *(token.end for token in tokens)]
    starts = [*(token.start for token in tokens), len(source.text)]
    for end, start in zip(ends, starts, strict=True):
        for unlike in ("/*+", "\\\n"):
            place = source.text.find(unlike, end, start)
            if place >= 0:
                raise source.error("comment", unlike.strip(), "write it without", place, place + len(unlike.strip()))


def _check_apart(source: Source, before: Token, kind: str, end: int) -> None:
    """Raise PredicateError for a number directly before or after a name, because Spark reads them as one name."""
    number_first = before.kind == NUMBER and kind in (WORD, QUOTED, STRING, NUMBER)
    if number_first or (kind == NUMBER and before.kind in _NAME_LIKE):
        remedy = "put a blank between them, or the name in backquotes"
        raise source.error("number and name", source.text[before.start : end], remedy, before.start, end)
