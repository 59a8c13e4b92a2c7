"""The parser of regular expressions. It accepts the expressions whose number of steps can be bounded.

Allowed are literals, classes, ``.``, anchors, lookaheads and lookbehinds, groups, alternatives, greedy and lazy
repetition, and the flags ``i`` and ``s``. Backreferences are refused. So is the word boundary: in a string that is one
long run of combining accents, Java reads the whole run for each of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from asc.predicate.regex.character_set import CharacterSet
from asc.predicate.regex.pattern_tree import Anchor, Atom, Choice, Group, Look, Part, Repeat, Run, is_nullable, within

MAX_CHARS = 500
_LITERAL_ESCAPES = r"\.[]{}()*+-?^$|/ " + "'\"&%_#@!~`=:;,<>"
_CLASS_ESCAPES = {
    "d": CharacterSet([(0x30, 0x39)]),
    "w": CharacterSet([(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)]),
    "s": CharacterSet.of(" \t\n\x0b\f\r"),
}
_ANY = ~CharacterSet.of("\n\r\x85\u2028\u2029")
_ANYTHING = ~CharacterSet(())
_REPEAT = re.compile(r"\{(\d{1,4})(,(\d{0,4}))?\}", re.ASCII)
_FLAGS = re.compile(r"\(\?([A-Za-z]*)(?:-([A-Za-z]*))?([:)])")
_LOOK = re.compile(r"\((\?<?[=!])")
_NO_FLAG = "i and s are, and i is of ASCII letters alone: for other letters use ILIKE, or lower(text)"
_MAX_GROUP_TIMES = 50
_MAX_NESTED = 20


def regular_expression(pattern: str) -> Part:
    """Return the syntax tree of a regular expression.

    Raise ValueError, with the reason, if the expression is refused.
    """
    if len(pattern) > MAX_CHARS:
        raise ValueError(f"at most {MAX_CHARS} characters")
    return _Reader(pattern).read()


class _Reader:
    """A recursive-descent parser of one regular expression."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._position = 0
        self._depth = 0
        self._flags = frozenset[str]()
        """The flags in effect at the current position, a subset of ``i`` and ``s``."""

    def read(self) -> Part:
        whole = self._choice()
        if self._position < len(self._pattern):
            raise ValueError("a ) has no (")
        return whole

    def _next(self) -> str:
        return self._pattern[self._position : self._position + 1]

    def _choice(self) -> Part:
        options = [self._run()]
        while self._next() == "|":
            self._position += 1
            options.append(self._run())
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _run(self) -> Part:
        parts: list[Part] = []
        while (character := self._next()) and character not in "|)":
            match = _FLAGS.match(self._pattern, self._position)
            if match is not None and match.group(3) == ")":
                # Flags hold up to the end of the enclosing group, including its other alternatives.
                self._flags = self._flagged(match)
            else:
                parts.append(self._repeated())
        return parts[0] if len(parts) == 1 else Run(tuple(parts))

    def _flagged(self, match: re.Match[str]) -> frozenset[str]:
        """Return the flags in effect after a text such as ``(?i-s)`` that sets some flags and clears others."""
        on, off = match.group(1), match.group(2) or ""
        for flag in on + off:
            if flag not in "is":
                raise ValueError(f"the flag {flag} is not allowed: {_NO_FLAG}")
        self._position = match.end()
        return (self._flags | set(on)) - set(off)

    def _repeated(self) -> Part:
        character = self._next()
        if character == "(":
            part: Part = self._group()
        elif character in "^$":
            self._position += 1
            part = Anchor(character)
        else:
            part = self._atom()
        if isinstance(part, Anchor | Look):
            if self._next() and self._next() in "*+?{":
                what = "an anchor" if isinstance(part, Anchor) else "a look ahead or back"
                raise ValueError(f"{what} cannot be repeated")
            return part
        bounds = self._bounds()
        if bounds is None:
            return part
        if isinstance(part, Group):
            _check_repeated(part, *bounds[:2])
        return Repeat(part, *bounds)

    def _group(self) -> Group | Look:
        outer = self._flags
        look, flags = (own.match(self._pattern, self._position) for own in (_LOOK, _FLAGS))
        if look is not None:
            self._position = look.end()
        elif flags is not None:
            self._flags = self._flagged(flags)
        else:
            self._position += 1
            if self._next() == "?":
                raise ValueError("only the groups ( ), (?: ), (?i: ), (?= ), (?! ), (?<= ) and (?<! ) are allowed")
        self._depth += 1
        if self._depth > _MAX_NESTED:
            raise ValueError(f"groups inside groups, more than {_MAX_NESTED} deep")
        inner = self._choice()
        if self._next() != ")":
            raise ValueError("a ( has no )")
        self._position += 1
        self._depth -= 1
        self._flags = outer
        if look is None:
            return Group(inner, flags is None)
        if "<" in look.group(1):
            _check_looked_back(inner)
        return Look(inner, look.group(1))

    def _bounds(self) -> tuple[int, int | None, bool] | None:
        """Return the least and the greatest number of repetitions, and whether the repetition is lazy.

        The greatest number is None for an unbounded repetition. Return None if no repetition follows.
        """
        following = self._next()
        if following and following in "*+?":
            self._position += 1
            bounds: tuple[int, int | None] = {"*": (0, None), "+": (1, None), "?": (0, 1)}[following]
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
            return None
        is_lazy = self._next() == "?"
        self._position += is_lazy
        if self._next() and self._next() in "*+?{":
            raise ValueError("possessive and doubled repetitions are not allowed")
        return *bounds, is_lazy

    def _atom(self) -> Atom:
        start = self._position
        character = self._next()
        self._position += 1
        if character == "." and "s" in self._flags:
            return Atom(_ANYTHING, "[\\d\\D]")
        if character == ".":
            characters = _ANY
        elif character == "[":
            return self._class()
        elif character == "\\":
            characters = self._escape()
        elif character in "*+?{":
            raise ValueError(f"{character} repeats nothing")
        elif character in "]}":
            raise ValueError(f"write \\{character}")
        else:
            characters = CharacterSet.of(character)
        if "i" in self._flags and characters != characters.in_both_cases:
            return Atom(characters.in_both_cases, f"[{character.lower()}{character.upper()}]")
        return Atom(characters, self._pattern[start : self._position])

    def _escape(self) -> CharacterSet:
        character = self._next()
        self._position += 1
        if character in _CLASS_ESCAPES:
            return _CLASS_ESCAPES[character]
        if character.lower() in _CLASS_ESCAPES:
            return ~_CLASS_ESCAPES[character.lower()]
        if character and character in "tnr":
            return CharacterSet.of({"t": "\t", "n": "\n", "r": "\r"}[character])
        if character and character in _LITERAL_ESCAPES:
            return CharacterSet.of(character)
        if character and character in "bB":
            remedy = "write (^|[^A-Za-z0-9_]) before a word and ([^A-Za-z0-9_]|$) after it"
            raise ValueError(f"\\{character} can take very long on accents: {remedy}")
        raise ValueError(f"\\{character} is not allowed")

    def _class(self) -> Atom:
        pattern, start = self._pattern, self._position - 1
        is_negated = pattern.startswith("^", self._position)
        self._position += is_negated
        begin = self._position
        members = CharacterSet(self._members())
        head, rest = pattern[start:begin], pattern[begin : self._position]
        if "i" in self._flags:
            # Java folds first and negates then.
            others = members.in_both_cases & ~members
            members |= others
            if rest.startswith("--"):
                characters = ~members if is_negated else members
                return Atom(characters, characters.text, len(characters.ranges))
            if rest.startswith("-"):
                head, rest = head + rest[0], rest[1:]
            head += others.text[1:-1]
        characters = ~members if is_negated else members
        return Atom(characters, head + rest, 1 + sum(c > "\xff" for c in rest))

    def _members(self) -> Iterator[tuple[int, int]]:
        """Yield the ranges of characters of a class, up to the end of the class."""
        pattern, begin = self._pattern, self._position
        while True:
            character = self._next()
            self._position += 1
            if not character:
                raise ValueError("a [ has no ]")
            if character == "]" and self._position > begin + 1:
                break
            if character in "[]" or (character == "&" and pattern.startswith("&", self._position)):
                raise ValueError("classes inside classes are not allowed: write \\[ or \\]")
            low = ord(character)
            if character == "\\":
                escaped = self._escape().ranges
                if len(escaped) > 1 or escaped[0][0] < escaped[0][1]:
                    yield from escaped
                    continue
                low = escaped[0][0]
            if pattern.startswith("-", self._position) and pattern[self._position + 1 : self._position + 2] not in (
                "]",
                "",
            ):
                end = pattern[self._position + 1]
                if end in "\\[" or ord(end) < low:
                    raise ValueError(f"a range {chr(low)}-{end} that is none")
                self._position += 2
                yield low, ord(end)
            else:
                yield low, low


def _check_looked_back(part: Part) -> None:
    """Raise ValueError if Java may be unable to determine the maximum length of a lookbehind."""
    for own in within(part):
        if isinstance(own, Look):
            raise ValueError("a look back that holds another look is not allowed")
        if isinstance(own, Repeat) and own.high is None:
            raise ValueError("a look back needs a bound: give what it repeats one, {0,20}")
        if isinstance(own, Repeat) and not isinstance(own.part, Atom):
            raise ValueError("a look back repeats characters and classes, not groups")


def _check_repeated(group: Group, low: int, high: int | None) -> None:
    """Raise ValueError for a group whose repetition is too deep or too frequent for Java's matcher.

    For each repetition of a group, Java's recursion is one call deeper.
    """
    if high == 1:
        return
    if is_nullable(group):
        raise ValueError("a repeated group that may match nothing: make what it holds mandatory")
    if _is_rigid(group.part):
        return
    if high is None:
        raise ValueError(
            "a repeated group goes as deep as it is often repeated, and may take exponential time: repeat a class,"
            f" or give the group a bound, {{0,{min(20, max(low, 1) * 20)}}}"
        )
    if high > _MAX_GROUP_TIMES:
        raise ValueError(f"a group may be repeated {_MAX_GROUP_TIMES} times at most")


def _is_rigid(part: Part) -> bool:
    """Return whether Java counts the repetitions of a part without recursion.

    This holds if all matches of the part have the same length, can be matched in one way, and contain no surrogate
    pairs.
    """
    if isinstance(part, Atom):
        return not part.characters.has_beyond
    if isinstance(part, Group):
        return _is_rigid(part.part)
    if isinstance(part, Run):
        return all(map(_is_rigid, part.parts))
    return isinstance(part, Repeat) and part.low == part.high and isinstance(part.part, Atom) and _is_rigid(part.part)
