"""The syntax trees of regular expressions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from asc.predicate.regex.character_set import CharacterSet


@dataclass(frozen=True, slots=True)
class Atom:
    """A part that matches one character of a set. ``text``: the atom in the syntax of regular expressions. ``cost`` is
    the number of steps of a test whether a character is in the set.

    Java compares the members of a class beyond Latin-1 one by one.
    """

    characters: CharacterSet
    text: str
    cost: int = 1


@dataclass(frozen=True, slots=True)
class Anchor:
    """A part that matches a position: ``^`` or ``$``."""

    text: str


@dataclass(frozen=True, slots=True)
class Look:
    """A lookaround: ``?=`` (lookahead), ``?<=`` (lookbehind), or the negated ``?!`` and ``?<!``."""

    part: Part
    text: str


@dataclass(frozen=True, slots=True)
class Repeat:
    """A repetition of a part, ``low`` to ``high`` times. If ``high`` is None, the repetition is unbounded.

    A lazy repetition is repeated as few times as possible.
    """

    part: Part
    low: int
    high: int | None
    is_lazy: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """A part in parentheses, which may be a capturing group."""

    part: Part
    is_capturing: bool


@dataclass(frozen=True, slots=True)
class Run:
    """A part that is a sequence of parts."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """A part that matches any of several alternatives, which ``|`` separates in the text."""

    options: tuple[Part, ...]


Part = Atom | Anchor | Look | Repeat | Group | Run | Choice


def spelled(part: Part, *, capturing: bool = True) -> str:
    """Return the text of a part in Java's syntax. If ``capturing`` is False, no group is capturing.

    ``x{3,}`` becomes ``x{3}x*``. Otherwise Java's recursion is one call deeper each time that a surrogate pair follows
    a character of one code unit.

    >>> from asc.predicate.regex.regular_expression import regular_expression
    >>> spelled(regular_expression("(ab|c){2}d{3,}"))
    '(ab|c){2}d{3}d*'
    """
    if isinstance(part, Atom | Anchor):
        return part.text
    if isinstance(part, Group):
        inner = spelled(part.part, capturing=capturing)
        return f"({inner})" if part.is_capturing and capturing else f"(?:{inner})"
    if isinstance(part, Look):
        return f"({part.text}{spelled(part.part, capturing=capturing)})"
    if isinstance(part, Run):
        return "".join(
            f"(?:{spelled(own, capturing=capturing)})" if isinstance(own, Choice) else spelled(own, capturing=capturing)
            for own in part.parts
        )
    if isinstance(part, Choice):
        return "|".join(spelled(own, capturing=capturing) for own in part.options)
    return _spelled_repeat(part, spelled(part.part, capturing=capturing))


def _spelled_repeat(part: Repeat, spelled_part: str) -> str:
    low, high = part.low, part.high
    if low == high:
        return f"{spelled_part}{{{low}}}"
    if high is None and low > 1:
        # Only for a single character: writing a group twice would change the numbers of groups.
        text = f"{spelled_part}{{{low}}}{spelled_part}*" if isinstance(part.part, Atom) else f"{spelled_part}{{{low},}}"
    elif high is None:
        text = spelled_part + "*+"[low]
    else:
        text = spelled_part + ("?" if (low, high) == (0, 1) else f"{{{low},{high}}}")
    return text + "?" * part.is_lazy


def is_nullable(part: Part) -> bool:
    """Return whether a part may match the empty text."""
    if isinstance(part, Atom | Anchor | Look):
        return not isinstance(part, Atom)
    if isinstance(part, Group):
        return is_nullable(part.part)
    if isinstance(part, Run):
        return all(map(is_nullable, part.parts))
    if isinstance(part, Choice):
        return any(map(is_nullable, part.options))
    return part.low == 0 or is_nullable(part.part)


def within(part: Part) -> Iterator[Part]:
    """Yield a part and all its descendants, in the order of the text."""
    yield part
    if isinstance(part, Run | Choice):
        for own in part.parts if isinstance(part, Run) else part.options:
            yield from within(own)
    elif not isinstance(part, Atom | Anchor):
        yield from within(part.part)


def atoms(part: Part) -> Iterator[Atom]:
    """Yield the atoms of a part, in the order of its text."""
    return (own for own in within(part) if isinstance(own, Atom))


def captures(part: Part) -> bool:
    """Return whether a part has a capturing group."""
    return any(isinstance(own, Group) and own.is_capturing for own in within(part))


def has_anchor(part: Part) -> bool:
    """Return whether a part has ``^``, ``$``, a lookahead or a lookbehind."""
    return any(isinstance(own, Anchor | Look) for own in within(part))


def has_look(part: Part) -> bool:
    """Return whether a part has a lookahead or a lookbehind."""
    return any(isinstance(own, Look) for own in within(part))


def is_lazy(part: Part) -> bool:
    """Return whether a part has a lazy repetition."""
    return any(isinstance(own, Repeat) and own.is_lazy for own in within(part))


def greedy(part: Part) -> Part:
    """Return a part with greedy repetitions in place of lazy ones.

    A text contains a match of the result exactly if it contains a match of the original part.

    >>> from asc.predicate.regex.regular_expression import regular_expression
    >>> spelled(greedy(regular_expression("a.*?b")))
    'a.*b'
    """
    if isinstance(part, Run):
        return Run(tuple(map(greedy, part.parts)))
    if isinstance(part, Choice):
        return Choice(tuple(map(greedy, part.options)))
    if isinstance(part, Atom | Anchor):
        return part
    inner = greedy(part.part)
    return replace(part, part=inner, is_lazy=False) if isinstance(part, Repeat) else replace(part, part=inner)
