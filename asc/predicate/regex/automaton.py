"""A regular expression as an automaton that counts the paths between its states.

Each atom, written out as often as it is repeated, is a state (a "place" in the code). ``follow[p]`` maps each state
that is tried after ``p`` to the number of paths from ``p`` to it that read no character in between. So the automaton
has as many paths for reading a text as a backtracking matcher has ways of trying it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from asc.predicate.regex.character_set import CharacterSet
from asc.predicate.regex.one_try import steps_of_look
from asc.predicate.regex.pattern_tree import Anchor, Atom, Choice, Group, Look, Part, Repeat, Run

_MAX_PLACES = 500
_NONE = CharacterSet(())

PathCounts = dict[int, int]
"""The number of paths that lead to a state, by state."""


@dataclass(slots=True)
class _Piece:
    """The fragment of an automaton for one part of the expression: its empty paths, its first states and its last
    states.

    ``empty`` counts the paths through the part that read no character. ``empty_at_start`` and ``first_at_start`` hold
    at the start of a text, where ``^`` matches; ``empty`` and ``first`` hold at any other position.
    """

    empty_at_start: int
    empty: int
    first_at_start: PathCounts
    first: PathCounts
    last: PathCounts


@dataclass(slots=True)
class Automaton:
    """The automaton of a regular expression. ``characters``, ``costs``, ``atom_of`` and ``follow`` have one entry for
    each state. ``atom_of`` is None for ``$`` and for a look (lookahead or lookbehind).

    The state of ``$`` or of a look matches no character.
    """

    characters: list[CharacterSet] = field(default_factory=list)
    costs: list[int] = field(default_factory=list)
    atom_of: list[Atom | None] = field(default_factory=list)
    follow: list[PathCounts] = field(default_factory=list)
    first_at_start: PathCounts = field(default_factory=dict)
    first: PathCounts = field(default_factory=dict)
    last: PathCounts = field(default_factory=dict)

    @classmethod
    def of(cls, part: Part) -> Automaton:
        """Build the automaton of an expression. Raise ValueError if the automaton has more than 500 states."""
        made = cls()
        piece = made._piece(part)
        made.first_at_start, made.first, made.last = piece.first_at_start, piece.first, piece.last
        return made

    def is_sink(self, place: int) -> bool:
        """Return whether a state is a loop at the end of the expression, with no transition to another state.

        When the matcher reaches such a state, the whole expression has matched, and the match includes all characters
        that the loop reads.
        """
        return place in self.last and self.follow[place] == {place: 1}

    def ends_within_itself(self) -> bool:
        """Return whether a matched text can contain another matched text that ends earlier.

        The other text may have the same start.

        >>> from asc.predicate.regex.regular_expression import regular_expression
        >>> [Automaton.of(regular_expression(text)).ends_within_itself() for text in ("error", "a+", "abcd|bc")]
        [False, True, True]
        """
        seen: set[tuple[int, int | None]] = set()
        waiting: list[tuple[int, int | None]] = [(place, None) for place in self.first]
        waiting += [(p, q) for p in self.first for q in self.first if self.characters[p].meets(self.characters[q])]
        while waiting:
            pair = waiting.pop()
            if pair in seen:
                continue
            seen.add(pair)
            place, inner = pair
            if inner is not None and inner in self.last and self.follow[place]:
                return True
            for after in self.follow[place]:
                if inner is None:
                    waiting.append((after, None))
                for within in self.first if inner is None else self.follow[inner]:
                    if self.characters[after].meets(self.characters[within]):
                        waiting.append((after, within))
        return False

    def _place(self, characters: CharacterSet, cost: int, atom: Atom | None) -> _Piece:
        place = len(self.follow)
        if place == _MAX_PLACES:
            raise ValueError(f"written out, it has more than {_MAX_PLACES} characters")
        self.characters.append(characters)
        self.costs.append(cost)
        self.atom_of.append(atom)
        self.follow.append({})
        return _Piece(0, 0, {place: 1}, {place: 1}, {place: 1})

    def _piece(self, part: Part) -> _Piece:
        if isinstance(part, Atom):
            return self._place(part.characters, part.cost, part)
        if isinstance(part, Anchor):
            # After a character ^ never matches; after $ only the end of the last line can follow.
            return _Piece(1, 0, {}, {}, {}) if part.text == "^" else self._place(_NONE, 1, None)
        if isinstance(part, Look):
            # A look reads no character: it is empty, or a state that matches no character.
            return _either(_empty(), self._place(_NONE, steps_of_look(part), None))
        if isinstance(part, Group):
            return self._piece(part.part)
        if isinstance(part, Run):
            made = _empty()
            for inner in part.parts:
                made = self._then(made, self._piece(inner))
            return made
        if isinstance(part, Choice):
            made = _Piece(0, 0, {}, {}, {})
            for inner in part.options:
                made = _either(made, self._piece(inner))
            return made
        return self._repeated(part)

    def _repeated(self, part: Repeat) -> _Piece:
        made = _empty()
        if part.high is None:
            for _ in range(part.low - 1):
                made = self._then(made, self._piece(part.part))
            loop = self._piece(part.part)
            self._link(loop.last, loop.first)
            return self._then(made, loop if part.low else _either(loop, _empty()))
        for _ in range(part.high - part.low):
            made = _either(self._before(part.part, made), _empty())
        for _ in range(part.low):
            made = self._before(part.part, made)
        return made

    def _before(self, part: Part, rest: _Piece) -> _Piece:
        return self._then(self._piece(part), rest)

    def _then(self, first: _Piece, second: _Piece) -> _Piece:
        self._link(first.last, second.first)
        return _Piece(
            first.empty_at_start * second.empty_at_start,
            first.empty * second.empty,
            _sum(first.first_at_start, second.first_at_start, first.empty_at_start),
            _sum(first.first, second.first, first.empty),
            _sum(second.last, first.last, second.empty),
        )

    def _link(self, last: PathCounts, first: PathCounts) -> None:
        for place, paths in last.items():
            follow = self.follow[place]
            for after, more in first.items():
                follow[after] = follow.get(after, 0) + paths * more


def _empty() -> _Piece:
    return _Piece(1, 1, {}, {}, {})


def _either(first: _Piece, second: _Piece) -> _Piece:
    return _Piece(
        first.empty_at_start + second.empty_at_start,
        first.empty + second.empty,
        _sum(first.first_at_start, second.first_at_start, 1),
        _sum(first.first, second.first, 1),
        _sum(first.last, second.last, 1),
    )


def _sum(paths: PathCounts, more: PathCounts, times: int) -> PathCounts:
    if not times:
        return paths
    total = dict(paths)
    for place, own in more.items():
        total[place] = total.get(place, 0) + own * times
    return total
