r"""LIKE patterns that a record brings, as Spark SQL that makes a regular expression of them.

Each ``%`` ends an atomic group, ``a%b%c`` is ``(?s)\A(?>a)(?>.*?b)(?>.*?c\z)``: the leftmost place of the
text between two is as good as any later one, so that nothing is sought twice.
"""

from __future__ import annotations

from asc.keys.byte_strings import quoted

MAX_LIKE_CHARS = 100
"""The most characters of a pattern of a record, and so the steps for each character of a text."""

_ESCAPED_ESCAPE, _PERCENT, _UNDERSCORE = "\ufdd0", "\ufdd1", "\ufdd2"
"""Stand for what is escaped while the rest is rewritten: no characters of any text, and refused in a pattern."""

_SPECIAL = r"([\\^$.|?*+(){}\[\]])"
_BEYOND = r"[\x{10000}-\x{10ffff}]"
_NEVER = "(?!)"


def like_regex_of_record(pattern: str, escape: str) -> str:
    """Return the regular expression for a pattern, given by name; NULL for one that is too long or that Spark throws
    for.

    Spark tears a character beyond U+FFFF in two and never finds it.
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
    """Return a character within a class of a regular expression."""
    return f"\\x{{{ord(character):x}}}"
