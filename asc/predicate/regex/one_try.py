"""The work of Java's matcher when it tries a part of a regular expression at one position of a text."""

from __future__ import annotations

from asc.predicate.regex.pattern_tree import Anchor, Atom, Choice, Group, Look, Part, Run

Work = tuple[int, int]
"""The number of ways in which a part may match at one position, and the number of steps of all these ways together."""


class LoopError(Exception):
    """An error: in the expression, a part follows an unbounded repetition, so that one try has no bound on its work."""


def tried(part: Part, *, is_last: bool) -> Work:
    """Return the work of Java's matcher when it tries a part of an expression at one position of a text.

    In a sequence, the steps of a part count once for each way to match the parts before it. ``is_last``: whether
    nothing follows the part in the expression. Raise LoopError if something follows an unbounded repetition.
    """
    if isinstance(part, Atom):
        return 1, part.cost
    if isinstance(part, Anchor):
        return 1, 1
    if isinstance(part, Look):
        return 1, steps_of_look(part)
    if isinstance(part, Group):
        return tried(part.part, is_last=is_last)
    if isinstance(part, Choice):
        works = [tried(option, is_last=is_last) for option in part.options]
        return sum(paths for paths, _ in works), sum(taken for _, taken in works)
    if isinstance(part, Run):
        paths, taken = 1, 0
        for place, own in enumerate(part.parts):
            more, its = tried(own, is_last=is_last and place == len(part.parts) - 1)
            paths, taken = paths * more, taken + paths * its
        return paths, taken
    if part.high is None:
        if not is_last:
            raise LoopError
        # When the matcher reaches this last part, the whole expression matches, and nothing is backtracked.
        return 1, max(part.low, 1) * tried(part.part, is_last=False)[1]
    more, its = tried(part.part, is_last=False)
    paths, each, taken = 0, 1, 0
    for times in range(part.high + 1):
        paths += each if times >= part.low else 0
        taken += its * each if times < part.high else 0
        each *= more
        if taken > 10**9:
            break
    return paths, max(taken, its)


def steps_of_look(look: Look) -> int:
    """Return the number of steps of a lookahead or lookbehind at one position.

    Java tries a lookbehind from each position at which a match of its content may begin. Raise ValueError if the number
    of steps has no bound.
    """
    try:
        own = tried(look.part, is_last=False)[1]
    except LoopError:
        remedy = "give what it repeats a bound, {0,20}, or put the look right behind ^"
        raise ValueError(f"a look ahead would read the text again from each place: {remedy}") from None
    return 1 + own * (1 + _width(look.part) if "<" in look.text else 1)


def _width(part: Part) -> int:
    """Return the maximum number of characters that a part without unbounded repetitions may match."""
    if isinstance(part, Atom | Anchor | Look):
        return int(isinstance(part, Atom))
    if isinstance(part, Run):
        return sum(map(_width, part.parts))
    if isinstance(part, Choice):
        return max(map(_width, part.options))
    return _width(part.part) * (1 if isinstance(part, Group) else part.high or 0)
