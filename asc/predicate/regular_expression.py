"""Regular expressions that can be matched in time linear in the string's length, with a small factor.

A stream must not stall on one long string. Spark hands them to Java's backtracking matcher, so an expression may use
literals, classes, ``.``, anchors, groups, alternatives, and repetition of a single character or class only (never of a
group). Going back over ``{n,m}``, ``?`` and alternatives takes steps, which are counted (:func:`rlike_work`). An
unbounded ``*`` or ``+`` needs a leading ``^``, and what follows it must not match what it repeats (then it has one
place to stop); the last one may be followed by anything. One that ends the expression, or an alternative of it, needs
none of this: where it is reached, all has matched. No alternatives or groups beside other unbounded repetition. No
backreferences, lookaround, or inline flags, and no word boundary: where a string is one long run of combining accents,
Java looks through all of it for each.
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
_MAX_STEPS_ONCE = 2_000
"""Steps of an expression that is tried at the start of a string alone."""

MAX_STEPS = 500
"""Steps that may be taken for each character of a string; one is ten nanoseconds."""

_REPEAT = re.compile(r"\{(\d{1,4})(,(\d{0,4}))?\}", re.ASCII)

Characters = tuple[frozenset[str], bool]
"""The characters one atom matches: its ASCII (and literal) ones, and whether it may match others as well."""

Work = tuple[int, int]
"""Of a part of an expression tried at one place: the ways in which it may match, and the steps of all of them."""


def rlike_trouble(pattern: str) -> str | None:
    """Why a regular expression is refused, whatever else its predicate holds; None for one that is allowed.

    >>> rlike_trouble("^a[bc]")
    >>> rlike_trouble("(a+)+$")
    'a repeated group can take exponential time: repeat single characters or classes only'
    """
    try:
        rlike_work(pattern)
    except ValueError as refused:
        return str(refused)
    return None


def rlike_work(pattern: str) -> int:
    """The steps at most that a matcher takes for each character of a string; ValueError with the reason for a regular
    expression that is refused.

    >>> rlike_work("^abc"), rlike_work("abc"), rlike_work("a{1,2}b")
    (0, 3, 4)
    """
    if len(pattern) > 500:
        raise ValueError("at most 500 characters")
    work = _Checker(pattern).work()
    if work > MAX_STEPS:
        raise ValueError(f"it may take {work} steps for each character of a string, more than {MAX_STEPS}")
    return work


class _Checker:
    """One pass over a regular expression.

    Of the alternative that is read, from its group's opening or the last unbounded repetition on, ``_own`` is the work;
    ``_others`` is that of its group's alternatives before. Each way of one part is followed by all steps of the next.
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._position = 0
        self._own: Work = 1, 0
        self._others: Work = 0, 0
        self._groups: list[tuple[Work, Work]] = []
        self._is_anchored = pattern.startswith("^")
        self._a_character = 0
        self._cost = 1  # of looking at the last atom: Java goes through a class's members beyond Latin-1 one by one
        self._unbounded: Characters | None = None
        self._any_unbounded = False
        self._ambiguous = False  # something after * or + matches what it repeats: it has several places to stop
        self._structured = False

    def work(self) -> int:
        """The steps for each character of a string; ValueError with the reason for what is refused."""
        pattern = self._pattern
        while self._position < len(pattern):
            character = pattern[self._position]
            if character == "(":
                self._structured = True
                self._groups.append((self._others, self._own))
                self._others, self._own = (0, 0), (1, 0)
                self._position += 1
                if pattern.startswith("?", self._position):
                    if not pattern.startswith("?:", self._position):
                        raise ValueError("only plain groups ( ) and (?: ) are allowed")
                    self._position += 2
            elif character == ")":
                self._position += 1
                if not self._groups:
                    raise ValueError("a ) has no (")
                inside = _either(self._others, self._own)
                self._others, self._own = self._groups.pop()
                self._then(*inside)
                if pattern[self._position : self._position + 1] in ("*", "+", "?", "{"):
                    raise ValueError(
                        "a repeated group can take exponential time: repeat single characters or classes only"
                    )
            elif character == "|":
                self._structured = True
                self._others, self._own = _either(self._others, self._own), (1, 0)
                self._is_anchored &= bool(self._groups)
                self._position += 1
            elif character in "^$":
                self._position += 1
                self._then(1, 1)
                if pattern[self._position : self._position + 1] in ("*", "+", "?", "{"):
                    raise ValueError("an anchor cannot be repeated")
            else:
                self._atom()
        if self._groups:
            raise ValueError("a ( has no )")
        if self._any_unbounded and not pattern.startswith("^"):
            raise ValueError("* and + need a leading ^ , or give a bound: {0,20}")
        if self._any_unbounded and self._structured:
            raise ValueError(
                "* and + beside groups or alternatives: give a bound, {0,20}, or split the condition with OR"
            )
        _, steps = _either(self._others, self._own)
        if self._any_unbounded:
            return self._a_character + steps
        if not self._is_anchored:
            return steps
        if steps > _MAX_STEPS_ONCE:
            raise ValueError(f"it may take {steps} steps, more than {_MAX_STEPS_ONCE}")
        return 0

    def _then(self, ways: int, steps: int) -> None:
        before, taken = self._own
        self._own = before * ways, taken + before * steps

    def _atom(self) -> None:
        characters = self._characters()
        cost = self._cost
        low, high = self._repetition()
        if self._unbounded is not None and high != 0:
            before, before_other = self._unbounded
            ascii_set, other = characters
            if (before & ascii_set) or (before_other and other):
                if high is None and not self._is_last():
                    raise ValueError("two * or + that can match the same characters: give a bound, {0,20}")
                self._ambiguous = True
            elif low > 0:
                self._unbounded = None
        if high is None and self._is_last():
            # Where it is reached, the whole expression matches: nothing is gone back over.
            self._then(1, max(low, 1) * cost)
        elif high is None:
            if self._unbounded is not None or self._ambiguous:
                raise ValueError("what follows * or + must not match what it repeats: give a bound, {0,20}")
            # What follows is tried wherever this one may stop, once for each character, in each way that led here.
            self._a_character += self._own[1] if self._any_unbounded else 0
            self._own = self._own[0], self._own[0] * cost
            self._any_unbounded = True
            self._unbounded = characters
        else:
            self._then(high - low + 1, max(high, 1) * cost)

    def _is_last(self) -> bool:
        """Whether nothing but the ends of groups follows, or another alternative of the whole."""
        rest = self._pattern[self._position :]
        return not rest.strip(")") or (rest.startswith("|") and not self._groups)

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
                raise ValueError("a { that repeats nothing: write \\{")
            self._position = match.end()
            low = int(match.group(1))
            high = low if match.group(2) is None else (int(match.group(3)) if match.group(3) else None)
            if high is not None and high < low:
                raise ValueError("a repetition {n,m} with m < n")
            bounds = (low, high)
        else:
            return bounds
        if self._pattern[self._position : self._position + 1] in ("*", "+", "?", "{"):
            raise ValueError("lazy, possessive and doubled repetitions are not allowed")
        return bounds

    def _characters(self) -> Characters:
        character = self._pattern[self._position]
        self._position += 1
        self._cost = 1
        if character == ".":
            return _ASCII, True
        if character == "[":
            return self._class()
        if character == "\\":
            return self._escape()
        if character in "*+?{":
            raise ValueError(f"{character} repeats nothing")
        if character in "]}":
            raise ValueError(f"write \\{character}")
        return frozenset(character), ord(character) > 127

    def _escape(self) -> Characters:
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
        if character and character in "bB":
            remedy = "write (^|[^A-Za-z0-9_]) before a word and ([^A-Za-z0-9_]|$) after it"
            raise ValueError(f"\\{character} can take very long on accents: {remedy}")
        raise ValueError(f"\\{character} is not allowed")

    def _class(self) -> Characters:
        pattern = self._pattern
        start = self._position
        negated = pattern.startswith("^", self._position)
        self._position += negated
        found: set[str] = set()
        other = False
        empty = True
        while True:
            character = pattern[self._position : self._position + 1]
            self._position += 1
            if not character:
                raise ValueError("a [ has no ]")
            if character == "]" and not empty:
                break
            if character in "[]" or (character == "&" and pattern.startswith("&", self._position)):
                raise ValueError("classes inside classes are not allowed: write \\[ or \\]")
            empty = False
            if character == "\\":
                escaped = self._escape()
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
                    raise ValueError(f"a range {character}-{end} that is none")
                self._position += 2
                found |= {chr(c) for c in range(ord(character), min(ord(end), 127) + 1)}
                other |= ord(end) > 127
            else:
                found.add(character)
                other |= ord(character) > 127
        self._cost = 1 + sum(c > "\xff" for c in pattern[start : self._position])
        if negated:
            return _ASCII - found, True
        return frozenset(found), other


def _either(one: Work, other: Work) -> Work:
    return one[0] + other[0], one[1] + other[1]
