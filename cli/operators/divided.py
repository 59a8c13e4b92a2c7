"""Division of an option's text into Spark SQL expressions."""

from __future__ import annotations

from collections.abc import Collection

_OPENING, _CLOSING = ("(", "["), (")", "]")


def divided(text: str, separator: str) -> list[str]:
    """Split a text of Spark SQL at each separator that is outside brackets and quotes. Return an empty list for a blank
    text.

    >>> divided("origin > dest, concat(carrier, ','), (a > b)", ",")
    ['origin > dest', "concat(carrier, ',')", '(a > b)']
    >>> divided("origin > dest", ">"), divided(" ", ",")
    (['origin', 'dest'], [])
    """
    # Import the tokenizer only when an option is given, because it loads sqlglot.
    from asc.predicate.syntax.nodes import Source
    from asc.predicate.syntax.tokens import tokens_of

    if not text.strip():
        return []
    kinds: Collection[str] = (*_OPENING, *_CLOSING, separator)
    parts, start, depth = [], 0, 0
    for token in tokens_of(Source(text)):
        if token.kind not in kinds:
            continue
        if token.kind in _OPENING:
            depth += 1
        elif token.kind in _CLOSING:
            depth -= 1
        elif depth == 0:
            parts.append(text[start : token.start].strip())
            start = token.end
    return [*parts, text[start:].strip()]
