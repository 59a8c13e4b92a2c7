"""The number of steps that Java's backtracking matcher takes for each character of a text.

If only the end of an expression is repeated without bound, the number of steps of one attempt follows from the
expression's structure. Otherwise the paths by which the matcher may reach each state are counted. For each character of
a text and each state of the automaton, the count includes the paths from every earlier start.

Each character of the text maps this vector of counts to another one. The mapping is monotone: if no count of a vector
is greater than in a second vector, this also holds for the vectors to which the two are mapped. So only the maximal
vectors are followed, until there are no new ones. If the counts grow without bound, the matcher would read a text again
and again, and the expression is refused.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise

from asc.predicate.regex.automaton import Automaton, PathCounts
from asc.predicate.regex.one_try import LoopError, tried
from asc.predicate.regex.pattern_tree import Anchor, Atom, Choice, Look, Part, Run

MAX_STEPS = 500
"""The maximum number of steps of Java's matcher for each character of a string. One step takes ten nanoseconds."""

_MAX_STEPS_ONCE = 2_000
"""The maximum number of steps of an expression that is tried only at the start of a string."""

_MAX_WORK = 40_000
"""The maximum number of path counts and of pairs of states that are inspected to accept or refuse one expression.

Inspecting that many takes about fifty milliseconds.
"""

_HALVES = (0xD800, 0xDC00, 0xE000, 0x10000)
_AGAIN = (
    "it may read the text again from many places: put a character before * and + that they do not repeat, or give a "
    "bound: {0,20}"
)


def steps(part: Part, guarded: Collection[Atom] = ()) -> int:
    """Return the number of steps for each character of a text in which an expression is searched for.

    Return 0 for an expression that is tried only at the start of a text. Raise ValueError if there are too many steps.
    ``guarded``: atoms whose repetition may be the first part of the expression. Such a repetition starts only if the
    preceding character is not one of the atom's characters.

    >>> from asc.predicate.regex.regular_expression import regular_expression
    >>> steps(regular_expression("error|warning"))
    12
    """
    looks, rest = _looks_at_start(part)
    if looks:
        return _bounded(sum(1 + steps(own) for own in looks) + steps(rest))
    refused = None
    options = part.options if isinstance(part, Choice) else (part,)
    try:
        anchored = [_is_anchored(option) for option in options]
        own = [tried(option, is_last=True)[1] for option in options]
        if all(anchored):
            if sum(own) > _MAX_STEPS_ONCE:
                raise ValueError(f"it may take {sum(own)} steps, more than {_MAX_STEPS_ONCE}")
            return 0
        return _bounded(sum(own))
    except LoopError:
        pass
    except ValueError as error:
        refused = error
    try:
        return _bounded(_Counted(Automaton.of(part), guarded).most())
    except ValueError:
        if refused is None:
            raise
        raise refused from None


def path_count(part: Part) -> int | None:
    """Return the number of ways in which a part may match at one position of a text.

    Return None if the part contains an unbounded repetition.
    """
    try:
        return tried(part, is_last=False)[0]
    except LoopError:
        return None


def _bounded(count: int) -> int:
    if count > MAX_STEPS:
        raise ValueError(f"it may take {count} steps for each character of a string, more than {MAX_STEPS}")
    return count


def _looks_at_start(part: Part) -> tuple[list[Part], Part]:
    """Return the lookaheads directly after the ``^`` of an expression, and the expression without them.

    Each lookahead is returned as the expression that it tests, after a ``^``.
    """
    parts = part.parts if isinstance(part, Run) else ()
    end = 1
    while parts[:1] == (Anchor("^"),) and end < len(parts) and _is_lookahead(parts[end]):
        end += 1
    looks: list[Part] = [Run((Anchor("^"), own.part)) for own in parts[1:end] if isinstance(own, Look)]
    return looks, Run((Anchor("^"), *parts[end:]))


def _is_lookahead(part: Part) -> bool:
    return isinstance(part, Look) and "<" not in part.text


def _is_anchored(part: Part) -> bool:
    return (isinstance(part, Anchor) and part.text == "^") or (
        isinstance(part, Run) and bool(part.parts) and _is_anchored(part.parts[0])
    )


class _Counted:
    """The search for the vectors of path counts that any text may produce in an automaton."""

    def __init__(self, automaton: Automaton, guarded: Collection[Atom]) -> None:
        self._automaton = automaton
        count = len(automaton.follow)
        follow = automaton.follow
        self._tries = [1 + sum(paths * automaton.costs[q] for q, paths in own.items()) for own in follow]
        self._follow = [[] if automaton.is_sink(place) else list(follow[place].items()) for place in range(count)]
        loops = {p for p in automaton.first if any(automaton.atom_of[p] is atom for atom in guarded)}
        self._first = [(place, paths) for place, paths in automaton.first.items() if place not in loops]
        self._guarded = [(place, paths) for place, paths in automaton.first.items() if place in loops]
        self._searched = 2 * len(loops) + sum(
            paths * automaton.costs[place] for place, paths in automaton.first.items()
        )
        self._texts, self._low_halves = self._kinds_of_characters()
        self._most_paths = 4 + 2 * self._widest()
        self._looked_at = 0

    def _widest(self) -> int:
        """Return a bound on the number of paths to one state if no text is read again.

        A greater count shows that the counts grow without bound.
        """
        widest = max((paths for own in self._automaton.follow for paths in own.values()), default=1)
        return widest + sum(len(own) > 1 for own in self._automaton.follow)

    def _kinds_of_characters(self) -> tuple[list[tuple[int, bool]], int]:
        """Return the kinds of characters that the automaton distinguishes.

        A kind consists of the states that read its characters, and whether the characters are surrogate pairs in Java.
        Also return the states that read a lone low surrogate, which can start between the two surrogates of a
        character. Each set of states is a bit mask.
        """
        places: dict[tuple[tuple[int, int], ...], int] = {}
        for place, characters in enumerate(self._automaton.characters):
            places[characters.ranges] = places.get(characters.ranges, 0) | 1 << place
        cuts = sorted({0, *_HALVES, 0x110000} | {cut for own in places for a, b in own for cut in (a, b + 1)})
        kinds: dict[tuple[int, bool], None] = {}
        low_halves = 0
        for start, _ in pairwise(cuts):
            read = sum(mask for own, mask in places.items() if any(a <= start <= b for a, b in own))
            if 0xDC00 <= start < 0xE000:
                low_halves |= read
            elif not 0xD800 <= start < 0xDC00:
                kinds[read, start >= 0x10000] = None
        return list(kinds), low_halves

    def most(self) -> int:
        """Return the greatest number of steps that the matcher takes at one character of any text.

        Raise ValueError if there are too many steps, or too many counts to inspect.
        """
        automaton = self._automaton
        if self._reads_again():
            raise ValueError(_AGAIN)
        start: PathCounts = {}
        most = self._searched + sum(paths * automaton.costs[q] for q, paths in automaton.first_at_start.items())
        # The maximal vectors, by the guarded loops that cannot start after the last character.
        greatest: dict[int, list[PathCounts]] = {}
        waiting: list[tuple[int, PathCounts]] = []
        for read, is_two in self._texts:
            entered = self._moved(start, list(automaton.first_at_start.items()), read, self._low_halves * is_two, 0)
            _keep(entered, self._shut(read), greatest, waiting)
        while waiting:
            shut, counts = waiting.pop()
            if not any(counts is own for own in greatest[shut]):
                continue
            most = max(most, self._searched + sum(paths * self._tries[q] for q, paths in counts.items()))
            _bounded(most)
            for read, is_two in self._texts:
                moved = self._moved(counts, self._first, read, self._low_halves * is_two, shut)
                _keep(moved, self._shut(read), greatest, waiting)
                self._looked_at += len(moved) * len(greatest[self._shut(read)])
        return most

    def _reads_again(self) -> bool:
        """Return whether some text leads from the start of a search to a loop, and also from the loop to itself.

        If so, every repetition of the text leads to the loop, and the attempt at each repetition reads all later
        repetitions. This is a fast test; the path counts decide the other cases.
        """
        texts, follow = self._texts, self._follow
        reads = [sum(1 << i for i, (read, _) in enumerate(texts) if read >> p & 1) for p in range(len(follow))]
        after = [[place for place, _ in own] for own in follow]
        for loop in range(len(follow)):
            if loop not in after[loop]:
                continue
            waiting = [(b, c) for b, _ in self._first for c in after[loop] if reads[b] & reads[c]]
            seen = set(waiting)
            while waiting:
                one, other = waiting.pop()
                if one == other == loop:
                    return True
                more = {(b, c) for b in after[one] for c in after[other] if reads[b] & reads[c]} - seen
                self._looked_at += len(after[one]) * len(after[other])
                if self._looked_at > _MAX_WORK:
                    return True
                seen |= more
                waiting += more
        return False

    def _shut(self, read: int) -> int:
        return sum(1 << place for place, _ in self._guarded if read >> place & 1)

    def _moved(self, counts: PathCounts, first: list[tuple[int, int]], read: int, half: int, shut: int) -> PathCounts:
        """Return the path counts after one more character.

        ``first``: the states at which an attempt may begin. ``read``: the states that read the character. ``half``: the
        states that read the low surrogate of the character. ``shut``: the guarded loops that cannot start at the
        character. The last three are bit masks. Raise ValueError if a count is too great, or if there are too many
        counts to inspect.
        """
        moved: PathCounts = {}
        for place, paths in counts.items():
            for after, more in self._follow[place]:
                if read >> after & 1:
                    moved[after] = moved.get(after, 0) + paths * more
        for after, more in first:
            if read >> after & 1:
                moved[after] = moved.get(after, 0) + more
        if half:
            for after, more in self._first:
                if half >> after & 1:
                    moved[after] = moved.get(after, 0) + more
        for after, more in self._guarded:
            if read >> after & 1 and not shut >> after & 1:
                moved[after] = moved.get(after, 0) + more
        self._looked_at += len(counts) + len(first)
        if self._looked_at > _MAX_WORK or max(moved.values(), default=0) > self._most_paths:
            raise ValueError(_AGAIN)
        return moved


def _keep(
    counts: PathCounts, shut: int, greatest: dict[int, list[PathCounts]], waiting: list[tuple[int, PathCounts]]
) -> None:
    """Add a vector of path counts to the maximal vectors, unless each of its counts is at most that of one of them.

    Remove the vectors of which each count is at most that of the new vector. ``shut``: the guarded loops that cannot
    start after the last character, a bit mask. ``greatest``: the maximal vectors by ``shut``. ``waiting``: receives
    each added vector.
    """
    own = greatest.setdefault(shut, [])
    if any(_below(counts, other) for other in own):
        return
    own[:] = [other for other in own if not _below(other, counts)]
    own.append(counts)
    waiting.append((shut, counts))


def _below(counts: PathCounts, other: PathCounts) -> bool:
    return len(counts) <= len(other) and all(other.get(place, 0) >= paths for place, paths in counts.items())
