r"""LIKE patterns that come from a record: SQL with which Spark converts such a pattern to a regular expression.

Each ``%`` ends an atomic group: ``a%b%c`` becomes ``(?s)\A(?>a)(?>.*?b)(?>.*?c\z)``. The leftmost occurrence of the
text between two ``%`` is as good as any later one, so nothing is searched for twice.
"""

from __future__ import annotations

from asc.keys.byte_strings import quoted

MAX_LIKE_CHARS = 100
"""The maximum length of a pattern from a record, in characters.

It is also the maximum number of steps for each character of a text.
"""

_ESCAPED_ESCAPE, _PERCENT, _UNDERSCORE = "\ufdd0", "\ufdd1", "\ufdd2"
"""Placeholders during the conversion: for an escaped escape character, an escaped ``%`` and an escaped ``_``.

The placeholders are noncharacters of Unicode. For a pattern that contains one of them the result is NULL.
"""

_SPECIAL = r"([\\^$.|?*+(){}\[\]])"
_BEYOND = r"[\x{10000}-\x{10ffff}]"
_NEVER = "(?!)"


def like_regex_of_record(pattern: str, escape: str) -> str:
    """Return SQL that converts a LIKE pattern to a regular expression. ``pattern`` is the SQL name to which the pattern
    is bound. ``escape``: the escape character.

    The SQL gives NULL for a pattern that is too long. It also gives NULL for a malformed pattern, for which Spark
    throws. Spark splits a character beyond U+FFFF into two code units and never finds it, so the regular expression
    does not find it either.
    """
    own = _class_of(escape)
    well_formed = rf"(?s)\A(?:[^{own}\x{{fdd0}}-\x{{fdd2}}]|[{own}][%_{own}])*+\z"
    text = pattern
    for escaped, mark in ((escape, _ESCAPED_ESCAPE), ("%", _PERCENT), ("_", _UNDERSCORE)):
        text = f"replace({text}, {quoted(escape + escaped)}, {quoted(mark)})"
    text = f"regexp_replace({text}, {quoted(_SPECIAL)}, {quoted(chr(92) * 2 + '$1')})"
    text = f"regexp_replace({text}, {quoted(_BEYOND)}, {quoted(_NEVER)})"
    text = f"regexp_replace({text}, '%+', '%')"
    replaced = (("_", "."), ("%", ")(?>.*?"), (_ESCAPED_ESCAPE, _literal(escape)), (_PERCENT, "%"), (_UNDERSCORE, "_"))
    for old, new in replaced:
        text = f"replace({text}, {quoted(old)}, {quoted(new)})"
    made = f"concat({quoted(r'(?s)' + chr(92) + 'A(?>')}, {text}, {quoted(chr(92) + 'z)')})"
    return f"if(length({pattern}) <= {MAX_LIKE_CHARS} AND {pattern} RLIKE {quoted(well_formed)}, {made}, NULL)"


def _literal(character: str) -> str:
    return character if character.isalnum() or ord(character) > 127 else f"\\{character}"


def _class_of(character: str) -> str:
    """Return a character as it is written in a character class of a regular expression."""
    return f"\\x{{{ord(character):x}}}"
