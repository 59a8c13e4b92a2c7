"""Regular expressions as trees: those whose work can be counted.

Literals, classes, ``.``, anchors, groups, alternatives and greedy repetition. No backreferences, lookaround, or inline
flags, and no word boundary: where a string is one long run of combining accents, Java looks through all of it for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from asc.predicate.character_set import CharacterSet

MAX_CHARS = 500
_LITERAL_ESCAPES = r"\.[]{}()*+-?^$|/ " + "'\"&%_#@!~`=:;,<>"
_CLASS_ESCAPES = {
    "d": CharacterSet([(0x30, 0x39)]),
    "w": CharacterSet([(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)]),
    "s": CharacterSet.of(" \t\n\x0b\f\r"),
}
_ANY = ~CharacterSet.of("\n\r\x85\u2028\u2029")
_REPEAT = re.compile(r"\{(\d{1,4})(,(\d{0,4}))?\}", re.ASCII)
_MAX_GROUP_TIMES = 50
_MAX_NESTED = 20


@dataclass(frozen=True, slots=True)
class Atom:
    """One character of a set; ``cost`` is what looking for it costs: Java goes through a class's members beyond Latin-1
    one by one.
    """

    characters: CharacterSet
    text: str
    cost: int = 1


@dataclass(frozen=True, slots=True)
class Anchor:
    """``^`` or ``$``."""

    text: str


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part ``low`` to ``high`` times; None: without bound."""

    part: Part
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class Group:
    """A part in parentheses."""

    part: Part
    is_capturing: bool


@dataclass(frozen=True, slots=True)
class Run:
    """Parts, one after the other."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Alternatives."""

    options: tuple[Part, ...]


Part = Atom | Anchor | Repeat | Group | Run | Choice


def spelled(part: Part, *, capturing: bool = True) -> str:
    """The text of a part for Java, its groups capturing as they did or not at all.

    ``x{3,}`` becomes ``x{3}x*``: Java goes one call deeper wherever a character of two halves follows one of one half.

    >>> spelled(regular_expression("(ab|c){2}d{3,}"))
    '(ab|c){2}d{3}d*'
    """
    if isinstance(part, Atom | Anchor):
        return part.text
    if isinstance(part, Group):
        inner = spelled(part.part, capturing=capturing)
        return f"({inner})" if part.is_capturing and capturing else f"(?:{inner})"
    if isinstance(part, Run):
        return "".join(
            f"(?:{spelled(own, capturing=capturing)})" if isinstance(own, Choice) else spelled(own, capturing=capturing)
            for own in part.parts
        )
    if isinstance(part, Choice):
        return "|".join(spelled(own, capturing=capturing) for own in part.options)
    own, low, high = spelled(part.part, capturing=capturing), part.low, part.high
    if high is None:
        if low > 1:
            # Only of a single character: a repeated group keeps its groups' numbers.
            return f"{own}{{{low}}}{own}*" if isinstance(part.part, Atom) else f"{own}{{{low},}}"
        return own + "*+"[low]
    if (low, high) == (0, 1):
        return own + "?"
    return own + (f"{{{low}}}" if low == high else f"{{{low},{high}}}")


def is_nullable(part: Part) -> bool:
    """Whether a part may match no character at all."""
    if isinstance(part, Atom | Anchor):
        return isinstance(part, Anchor)
    if isinstance(part, Group):
        return is_nullable(part.part)
    if isinstance(part, Run):
        return all(map(is_nullable, part.parts))
    if isinstance(part, Choice):
        return any(map(is_nullable, part.options))
    return part.low == 0 or is_nullable(part.part)


def atoms(part: Part) -> Iterator[Atom]:
    """The atoms of a part, as they stand in its text."""
    if isinstance(part, Atom):
        yield part
    elif isinstance(part, Run):
        for own in part.parts:
            yield from atoms(own)
    elif isinstance(part, Choice):
        for own in part.options:
            yield from atoms(own)
    elif not isinstance(part, Anchor):
        yield from atoms(part.part)


def captures(part: Part) -> bool:
    """Whether a capturing group stands in a part."""
    if isinstance(part, Run):
        return any(map(captures, part.parts))
    if isinstance(part, Choice):
        return any(map(captures, part.options))
    if isinstance(part, Group):
        return part.is_capturing or captures(part.part)
    return isinstance(part, Repeat) and captures(part.part)


def has_anchor(part: Part) -> bool:
    """Whether ``^`` or ``$`` stands in a part."""
    if isinstance(part, Run):
        return any(map(has_anchor, part.parts))
    if isinstance(part, Choice):
        return any(map(has_anchor, part.options))
    return isinstance(part, Anchor) or (not isinstance(part, Atom) and has_anchor(part.part))


def regular_expression(pattern: str) -> Part:
    """The tree of a regular expression; ValueError with the reason for one that is refused."""
    if len(pattern) > MAX_CHARS:
        raise ValueError(f"at most {MAX_CHARS} characters")
    return _Reader(pattern).read()


class _Reader:
    """One pass over the text of a regular expression."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._position = 0
        self._depth = 0

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
            parts.append(self._repeated())
        return parts[0] if len(parts) == 1 else Run(tuple(parts))

    def _repeated(self) -> Part:
        character = self._next()
        if character == "(":
            part: Part = self._group()
        elif character in "^$":
            self._position += 1
            if self._next() and self._next() in "*+?{":
                raise ValueError("an anchor cannot be repeated")
            return Anchor(character)
        else:
            part = self._atom()
        bounds = self._bounds()
        if bounds is None:
            return part
        if isinstance(part, Group):
            _check_repeated(part, *bounds)
        return Repeat(part, *bounds)

    def _group(self) -> Group:
        self._position += 1
        is_capturing = self._next() != "?"
        if not is_capturing:
            if not self._pattern.startswith("?:", self._position):
                raise ValueError("only plain groups ( ) and (?: ) are allowed")
            self._position += 2
        self._depth += 1
        if self._depth > _MAX_NESTED:
            raise ValueError(f"groups inside groups, more than {_MAX_NESTED} deep")
        inner = self._choice()
        if self._next() != ")":
            raise ValueError("a ( has no )")
        self._position += 1
        self._depth -= 1
        return Group(inner, is_capturing)

    def _bounds(self) -> tuple[int, int | None] | None:
        """Least and greatest number of repetitions, the latter None without bound; None where nothing is repeated."""
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
        if self._next() and self._next() in "*+?{":
            raise ValueError("lazy, possessive and doubled repetitions are not allowed")
        return bounds

    def _atom(self) -> Atom:
        start = self._position
        character = self._next()
        self._position += 1
        cost = 1
        if character == ".":
            characters = _ANY
        elif character == "[":
            characters = self._class()
            cost += sum(c > "\xff" for c in self._pattern[start : self._position])
        elif character == "\\":
            characters = self._escape()
        elif character in "*+?{":
            raise ValueError(f"{character} repeats nothing")
        elif character in "]}":
            raise ValueError(f"write \\{character}")
        else:
            characters = CharacterSet.of(character)
        return Atom(characters, self._pattern[start : self._position], cost)

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

    def _class(self) -> CharacterSet:
        pattern = self._pattern
        is_negated = pattern.startswith("^", self._position)
        self._position += is_negated
        found: list[tuple[int, int]] = []
        is_empty = True
        while True:
            character = self._next()
            self._position += 1
            if not character:
                raise ValueError("a [ has no ]")
            if character == "]" and not is_empty:
                break
            if character in "[]" or (character == "&" and pattern.startswith("&", self._position)):
                raise ValueError("classes inside classes are not allowed: write \\[ or \\]")
            is_empty = False
            low = ord(character)
            if character == "\\":
                escaped = self._escape().ranges
                if len(escaped) > 1 or escaped[0][0] < escaped[0][1]:
                    found += escaped
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
                found.append((low, ord(end)))
            else:
                found.append((low, low))
        return ~CharacterSet(found) if is_negated else CharacterSet(found)


def _check_repeated(group: Group, low: int, high: int | None) -> None:
    """ValueError where Java would go one call deeper for each time a group is repeated, as often as it may be."""
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
    """Whether a part is always as long, in one way, and of characters that are one of Java's: Java counts its times."""
    if isinstance(part, Atom):
        return not part.characters.has_beyond
    if isinstance(part, Group):
        return _is_rigid(part.part)
    if isinstance(part, Run):
        return all(map(_is_rigid, part.parts))
    return isinstance(part, Repeat) and part.low == part.high and isinstance(part.part, Atom) and _is_rigid(part.part)
