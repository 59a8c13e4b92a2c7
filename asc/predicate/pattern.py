"""LIKE and RLIKE patterns that can be matched in time linear in the string's length.

A stream must not stall on one long string. Spark hands both to Java's backtracking matcher, so:

* A LIKE pattern with at most one ``%`` before its last character, and the forms Spark turns into startsWith,
  endsWith and contains, go to Spark as they are. Others become a regular expression of atomic groups
  ``(?>.*?segment)``, which never goes back into a segment it has found: for LIKE the leftmost place of each segment
  is always as good as any later one.
* A regular expression may use literals, classes, ``.``, anchors, groups, alternatives, and repetition of a single
  character or class only (never of a group). ``{n,m}``, ``?`` and alternatives multiply to at most 200 ways, the upper
  counts of repetitions add up to at most 1,000. An unbounded ``*`` or
  ``+`` needs a leading ``^``, and what follows it must not match what it repeats (then it has one place to stop); the
  last one may be followed by anything. No alternatives or groups beside unbounded repetition. No backreferences,
  lookaround, or inline flags.
"""

from __future__ import annotations

import re

_LITERAL_ESCAPES = r"\.[]{}()*+-?^$|/ "
_CLASS_ESCAPES = {
    "d": frozenset("0123456789"),
    "w": frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"),
    "s": frozenset(" \t\n\x0b\f\r"),
}
_ASCII = frozenset(map(chr, range(128)))
_WORD_BOUNDARIES = "bB"
_MAX_WAYS = 200
_MAX_REPETITIONS = 1_000
_REPEAT = re.compile(r"\{(\d{1,4})(,(\d{0,4}))?\}", re.ASCII)

Characters = tuple[frozenset[str], bool]
"""The characters one atom matches: its ASCII (and literal) ones, and whether it may match others as well."""


def like_parts(pattern: str, escape: str) -> list[str | None]:
    """The pattern cut up: literal characters as they are, None for ``%``, the empty string for ``_``.

    ValueError for an escape that Spark refuses.

    >>> like_parts("a%b_", chr(92))
    ['a', None, 'b', '']
    """
    parts: list[str | None] = []
    literal: list[str] = []
    position = 0
    while position < len(pattern):
        character = pattern[position]
        position += 1
        if character == escape:
            if position == len(pattern) or pattern[position] not in ("%", "_", escape):
                raise ValueError(f"after the escape {escape} comes %, _ or {escape}")
            literal.append(pattern[position])
            position += 1
        elif character in "%_":
            if literal:
                parts.append("".join(literal))
                literal.clear()
            if character == "_":
                parts.append("")
            elif not parts or parts[-1] is not None:
                parts.append(None)
        else:
            literal.append(character)
    if literal:
        parts.append("".join(literal))
    return parts


def like_text(parts: list[str | None], escape: str) -> str:
    """The pattern of these segments, each run of ``%`` a single one: Spark's matcher tries every way to share them.

    >>> like_text(like_parts("a%%b|_%", "|"), "|")
    'a%b|_%'
    """
    wild = {None: "%", "": "_"}
    special = re.compile(f"[%_{re.escape(escape)}]")
    return "".join(special.sub(lambda m: escape + m.group(), part) if part else wild[part] for part in parts)


def like_regex(pattern: str, escape: str) -> str | None:
    """The regular expression to use instead of a LIKE pattern; None where LIKE itself is safe.

    ValueError for a pattern that Spark does not match as written.
    """
    parts = like_parts(pattern, escape)
    if like_text(parts, escape) != pattern and _torn(pattern):
        raise ValueError("%% beside a character beyond U+FFFF: write a single %")
    if "" not in parts and parts.count(None) == 2 and parts[0] is None and parts[-1] is None:
        return None  # contains
    if sum(part is None for part in parts[:-1]) <= 1:
        return None
    if _torn(pattern):
        raise ValueError("several % beside a character beyond U+FFFF: use contains(), startswith(), endswith()")
    segments: list[list[str]] = [[]]
    for part in parts:
        if part is None:
            segments.append([])
        else:
            segments[-1].append("." if part == "" else _java_literal(part))
    first, *middle, last = ("".join(segment) for segment in segments)
    found = "".join(f"(?>.*?{segment})" for segment in middle if segment)
    return f"(?s)\\A{first}{found}" + (f".*{last}\\z" if last else "")


def _torn(pattern: str) -> bool:
    """Whether Spark's own regular expression for LIKE tears a character in two and never finds it."""
    return any(character > "\uffff" for character in pattern)


def _java_literal(text: str) -> str:
    return "".join(c if c.isalnum() or ord(c) > 127 else f"\\x{ord(c):02x}" for c in text)


def rlike_trouble(pattern: str) -> str | None:
    """Why a regular expression is refused; None for one that is allowed.

    >>> rlike_trouble("^a[bc]")
    >>> rlike_trouble("(a+)+$")
    'a repeated group can take exponential time: repeat single characters or classes only'
    """
    if len(pattern) > 500:
        return "at most 500 characters"
    try:
        return _Checker(pattern).trouble()
    except _RefusedError as refused:
        return str(refused)


class _RefusedError(Exception):
    pass


class _Checker:
    """One pass over a regular expression."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._position = 0
        self._ways = 1
        self._groups: list[tuple[int, int]] = []
        self._other_ways = 0
        self._repetitions = 0
        self._unbounded: Characters | None = None
        self._any_unbounded = False
        self._ambiguous = False  # something after * or + matches what it repeats: it has several places to stop
        self._structured = False

    def trouble(self) -> str | None:
        pattern = self._pattern
        anchored = pattern.startswith("^")
        while self._position < len(pattern):
            character = pattern[self._position]
            if character == "(":
                self._structured = True
                self._groups.append((self._other_ways, self._ways))
                self._other_ways, self._ways = 0, 1
                self._position += 1
                if pattern.startswith("?", self._position):
                    if not pattern.startswith("?:", self._position):
                        raise _RefusedError("only plain groups ( ) and (?: ) are allowed")
                    self._position += 2
            elif character == ")":
                self._position += 1
                if not self._groups:
                    raise _RefusedError("a ) has no (")
                inside = self._other_ways + self._ways
                self._other_ways, self._ways = self._groups.pop()
                self._multiply(inside)
                if pattern[self._position : self._position + 1] in ("*", "+", "?", "{"):
                    raise _RefusedError(
                        "a repeated group can take exponential time: repeat single characters or classes only"
                    )
            elif character == "|":
                self._structured = True
                self._other_ways, self._ways = self._other_ways + self._ways, 1
                self._position += 1
            elif character in "^$":
                self._position += 1
                if pattern[self._position : self._position + 1] in ("*", "+", "?", "{"):
                    raise _RefusedError("an anchor cannot be repeated")
            else:
                self._atom()
        if self._groups:
            raise _RefusedError("a ( has no )")
        if self._any_unbounded and not anchored:
            raise _RefusedError("* and + need a leading ^ , or give a bound: {0,20}")
        if self._any_unbounded and self._structured:
            raise _RefusedError(
                "* and + beside groups or alternatives: give a bound, {0,20}, or split the condition with OR"
            )
        self._multiply(1)
        return None

    def _multiply(self, ways: int) -> None:
        self._ways *= ways
        if self._other_ways + self._ways > _MAX_WAYS:
            raise _RefusedError(f"repetitions and alternatives multiply to more than {_MAX_WAYS} ways")

    def _atom(self) -> None:
        characters = self._characters()
        if characters is None:  # a word boundary
            return
        low, high = self._repetition()
        if self._unbounded is not None and high != 0:
            before, before_other = self._unbounded
            ascii_set, other = characters
            if (before & ascii_set) or (before_other and other):
                if high is None:
                    raise _RefusedError("two * or + that can match the same characters: give a bound, {0,20}")
                self._ambiguous = True
            elif low > 0:
                self._unbounded = None
        if high is None:
            if self._unbounded is not None or self._ambiguous:
                raise _RefusedError("what follows * or + must not match what it repeats: give a bound, {0,20}")
            self._any_unbounded = True
            self._unbounded = characters
        else:
            self._multiply(high - low + 1)

    def _repetition(self) -> tuple[int, int | None]:
        """Least and greatest number of repetitions; None without bound."""
        following = self._pattern[self._position : self._position + 1]
        bounds: tuple[int, int | None] = (1, 1)
        if following and following in "*+?":
            self._position += 1
            bounds = {"*": (0, None), "+": (1, None), "?": (0, 1)}[following]
        elif following == "{":
            match = _REPEAT.match(self._pattern, self._position)
            if match is None:
                raise _RefusedError("a { that repeats nothing: write \\{")
            self._position = match.end()
            low = int(match.group(1))
            high = low if match.group(2) is None else (int(match.group(3)) if match.group(3) else None)
            if high is not None and high < low:
                raise _RefusedError("a repetition {n,m} with m < n")
            self._repetitions += low if high is None else high
            if self._repetitions > _MAX_REPETITIONS:
                raise _RefusedError(f"at most {_MAX_REPETITIONS} repetitions, together")
            bounds = (low, high)
        else:
            return bounds
        if self._pattern[self._position : self._position + 1] in ("*", "+", "?", "{"):
            raise _RefusedError("lazy, possessive and doubled repetitions are not allowed")
        return bounds

    def _characters(self) -> Characters | None:
        character = self._pattern[self._position]
        self._position += 1
        if character == ".":
            return _ASCII, True
        if character == "[":
            return self._class()
        if character == "\\":
            return self._escape(inside=False)
        if character in "*+?{":
            raise _RefusedError(f"{character} repeats nothing")
        if character in "]}":
            raise _RefusedError(f"write \\{character}")
        return frozenset(character), ord(character) > 127

    def _escape(self, inside: bool) -> Characters | None:
        character = self._pattern[self._position : self._position + 1]
        self._position += 1
        if character and character in _CLASS_ESCAPES:
            return _CLASS_ESCAPES[character], False
        if character and character.lower() in _CLASS_ESCAPES:
            return _ASCII - _CLASS_ESCAPES[character.lower()], True
        if character and character in "tnr":
            return frozenset({"t": "\t", "n": "\n", "r": "\r"}[character]), False
        if character and character in _LITERAL_ESCAPES + "'\"&%_#@!~`=:;,<>":
            return frozenset(character), False
        if character and character in _WORD_BOUNDARIES and not inside:
            return None
        raise _RefusedError(f"\\{character} is not allowed")

    def _class(self) -> Characters:
        pattern = self._pattern
        negated = pattern.startswith("^", self._position)
        self._position += negated
        found: set[str] = set()
        other = False
        empty = True
        while True:
            character = pattern[self._position : self._position + 1]
            self._position += 1
            if not character:
                raise _RefusedError("a [ has no ]")
            if character == "]" and not empty:
                break
            if character in "[]" or (character == "&" and pattern.startswith("&", self._position)):
                raise _RefusedError("classes inside classes are not allowed: write \\[ or \\]")
            empty = False
            if character == "\\":
                escaped = self._escape(inside=True)
                assert escaped is not None
                found |= escaped[0]
                other |= escaped[1]
                if len(escaped[0]) > 1 or escaped[1]:
                    continue
                (character,) = escaped[0]
            if pattern.startswith("-", self._position) and pattern[self._position + 1 : self._position + 2] not in (
                "]",
                "",
            ):
                end = pattern[self._position + 1]
                if end in "\\[" or end < character:
                    raise _RefusedError(f"a range {character}-{end} that is none")
                self._position += 2
                found |= {chr(c) for c in range(ord(character), min(ord(end), 127) + 1)}
                other |= ord(end) > 127
            else:
                found.add(character)
                other |= ord(character) > 127
        if negated:
            return _ASCII - found, True
        return frozenset(found), other
