"""Search of a text by Spark for matches of a regular expression. The search takes time linear in the text's length.

An expression is used as it is written if its number of steps is bounded. Otherwise it is rewritten as another
expression that finds the same matches:

- A test only asks whether there is a match. It needs no repetition at the start and end of the expression: ``[a-z]+b``
  is found exactly if ``[a-z]b`` is. It is then irrelevant, too, whether a repetition is lazy.
- In ``error.*timeout``, the head (the part before the unbounded repetition) is ``error``. A run is a maximal sequence
  of the repeated characters. If several matches of the head occur in one run, the one that ends first is as good as any
  other. So a run is read once, from its beginning: ``(?<!.)(?>.*?error).*timeout``. A text that matches the head must
  not contain another match of the head that ends earlier. The head may also contain characters that are not repeated,
  for example a line end. In this case there are several searches: for a head within a run, and for a head whose last
  such character is at a given position.
- For ``^(.*)-(.*)$``, a lookahead first tests whether the end of the text can be reached: ``^(?=.*$)(.*)-(.*)$``.
- If the position or the text of a match is needed, ``[a-z]+b`` is tried only at the beginnings of runs:
  ``(?<![a-z])[a-z]+b``. If there is a match from within a run, there is also a match from the beginning of the run. A
  match may also begin where the previous match ended. The expression must not match the empty text, because Java then
  continues one character later.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from asc.predicate.regex.automaton import Automaton
from asc.predicate.regex.backtracking import MAX_STEPS, path_count, steps
from asc.predicate.regex.character_set import CharacterSet
from asc.predicate.regex.guarded_loops import LOOKING_BACK, guard, guarded
from asc.predicate.regex.pattern_tree import (
    Anchor,
    Atom,
    Choice,
    Group,
    Part,
    Repeat,
    Run,
    atoms,
    captures,
    greedy,
    has_anchor,
    has_look,
    is_lazy,
    is_nullable,
    spelled,
)
from asc.predicate.regex.regular_expression import regular_expression


class Use(Enum):
    """The result that a search has to return."""

    TEST = "whether there is a match"
    GROUP = "a group of the first match"
    PLACE = "where the first match begins"
    ALL = "all matches"
    ALL_FROM = "all matches from a place on"


@dataclass(frozen=True, slots=True)
class Search:
    """A search for a regular expression.

    ``pattern`` is the regular expression for Spark, ``group`` the number of the requested group, and ``steps`` the
    number of steps for each character of a text.
    """

    pattern: str
    group: int
    steps: int


@lru_cache(maxsize=1024)
def search(pattern: str, use: Use, group: int = 0) -> Search:
    """Return the search for a regular expression: an expression that finds the same matches, and that Spark evaluates
    in time linear in the text's length.

    ``use``: the result that the search has to return. ``group``: the number of the requested group. Raise ValueError,
    with the reason, if the expression is refused.

    >>> search("[a-z]+b", Use.TEST).pattern, search("[a-z]+b", Use.PLACE).pattern
    ('[a-z]b', '(?<![a-z])[a-z]+b')
    """
    tree = regular_expression(pattern)
    if use is Use.TEST:
        tree = greedy(tree)
    try:
        return Search(spelled(tree), group, steps(tree))
    except ValueError as error:
        refused = error
    if has_look(tree) or (is_lazy(tree) and use in (Use.ALL, Use.ALL_FROM)):
        raise refused
    if all(atom.characters.takes_whole_characters for atom in atoms(tree)) and (
        use in (Use.TEST, Use.PLACE) or (use is Use.GROUP and not group) or not _captures_in_turn(tree)
    ):
        found = _test(tree) if use is Use.TEST else _at_runs(tree, use, group) or _whole_line(tree, group)
        if found is None and use is Use.GROUP:
            found = _first_head(tree, group)
        if found is not None and found.steps <= MAX_STEPS:
            return found
    raise refused


def _captures_in_turn(part: Part) -> bool:
    """Return whether a group of the part may be captured more than once during one search.

    Java keeps the capture of a failed attempt, so the final capture depends on the positions that were tried.
    """
    if isinstance(part, Repeat):
        return captures(part) if part.high != 1 else _captures_in_turn(part.part)
    if isinstance(part, Group):
        return _captures_in_turn(part.part)
    if isinstance(part, Run):
        return any(map(_captures_in_turn, part.parts))
    return isinstance(part, Choice) and any(map(_captures_in_turn, part.options))


def _captures_always(part: Part) -> bool:
    """Return whether every match of a part captures all groups of the part."""
    if isinstance(part, Group):
        return _captures_always(part.part)
    if isinstance(part, Run):
        return all(map(_captures_always, part.parts))
    return not captures(part)


def _attempted(part: Part) -> int | None:
    try:
        return steps(part)
    except ValueError:
        return None


# -- whether there is a match


def _test(tree: Part) -> Search | None:
    searches = []
    for option in _options(tree):
        run = _stripped(_stripped(_flat(option), at_end=False), at_end=True)
        steps = _attempted(run)
        option_search = (
            Search(spelled(run, capturing=False), 0, steps) if steps is not None else _heads_once(_parts(run))
        )
        if option_search is None:
            return None
        searches.append(option_search)
    return Search("|".join(one.pattern for one in searches), 0, sum(one.steps for one in searches))


def _options(part: Part) -> Iterator[Part]:
    """Yield the alternatives of a whole expression, ignoring parentheses around the expression."""
    while isinstance(part, Group):
        part = part.part
    if isinstance(part, Choice):
        for option in part.options:
            yield from _options(option)
    else:
        yield part


def _parts(part: Part) -> list[Part]:
    return list(part.parts) if isinstance(part, Run) else [part]


def _flat(part: Part) -> Part:
    """Return a part without redundant parentheses. Parentheses around a choice are not redundant."""
    if isinstance(part, Group) and not isinstance(part.part, Choice):
        return _flat(part.part)
    if isinstance(part, Run):
        return Run(tuple(inner for own in part.parts for inner in _parts(_flat(own))))
    return part


def _stripped(part: Part, *, at_end: bool, within: CharacterSet | None = None) -> Part:
    """Return a part whose repetitions at the start, or with ``at_end`` at the end, are reduced to their minimum.

    ``within``: reduce only repetitions of characters of this set.
    """
    if isinstance(part, Group):
        return Group(_stripped(part.part, at_end=at_end, within=within), part.is_capturing)
    if isinstance(part, Choice):
        return Choice(tuple(_stripped(own, at_end=at_end, within=within) for own in part.options))
    if isinstance(part, Run):
        parts = list(part.parts)
        while parts:
            place = -1 if at_end else 0
            parts[place] = _stripped(parts[place], at_end=at_end, within=within)
            if parts[place] != Run(()):
                break
            del parts[place]
        return Run(tuple(parts))
    if isinstance(part, Repeat) and (within is None or _is_within(part, within)):
        if part.low == 0:
            return Run(())
        return part.part if part.low == 1 else Repeat(part.part, part.low, part.low)
    return part


def _is_within(part: Part, characters: CharacterSet) -> bool:
    return not has_anchor(part) and all(atom.characters <= characters for atom in atoms(part))


def _heads_once(parts: list[Part]) -> Search | None:
    """Return the search for ``a.*b.*c`` that searches for each head once in a run.

    The run consists of the characters that are repeated between the heads. Return None if no such search has a bounded
    number of steps.
    """
    loops = [own.part for own in parts if isinstance(own, Repeat) and own.high is None]
    for loop in {atom.characters: atom for atom in loops if isinstance(atom, Atom)}.values():
        found = _around(loop, parts) or _across(loop, parts)
        if found is not None:
            return found
    return None


def _across(loop: Atom, parts: list[Part]) -> Search | None:
    """Return the search for parts whose head (the parts before the repetition of ``loop``) may contain characters that
    the loop does not repeat.

    There is one search for a head within a run of the loop's characters. There is another search for each position of
    the head at which its last character outside the loop's set may be. Return None if a search has no bound on its
    steps.
    """
    length = next(i for i, own in enumerate(parts) if isinstance(own, Repeat) and own.part == loop and own.high is None)
    narrow = [_narrowed(own, loop.characters) for own in parts[:length]]
    if None in narrow:
        return None
    kept = [own for own in narrow if own is not None]
    within = _around(loop, [*kept, *parts[length:]])
    if within is None:
        return None
    searches = [within]
    for place, own in enumerate(parts[:length]):
        crossing = _crossing(own, loop.characters)
        if not crossing:
            continue
        after = _stripped(Run(tuple(kept[place + 1 :])), at_end=True)
        if after == Run(()):
            crossing = crossing[:2]  # the rest is read by the loop
        whole = _stripped(Run((*parts[:place], *crossing, after, *parts[length:])), at_end=False)
        count = _attempted(whole)
        if count is None:
            return None
        searches.append(Search(spelled(whole, capturing=False), 0, count))
    return Search("|".join(one.pattern for one in searches), 0, sum(one.steps for one in searches))


def _narrowed(part: Part, characters: CharacterSet) -> Part | None:
    """Return a part that matches only those texts of ``part`` that consist of the given characters. Return None if the
    part is too complex for this.
    """
    if _is_within(part, characters):
        return part
    if isinstance(part, Atom):
        common = part.characters & characters
        return Atom(common, common.text, len(common.ranges)) if common.ranges else None
    if isinstance(part, Repeat) and isinstance(part.part, Atom) and part.low <= 1 and part.high in (1, None):
        inner = _narrowed(part.part, characters)
        return None if inner is None else Repeat(inner, part.low, part.high)
    return None


def _crossing(part: Part, characters: CharacterSet) -> list[Part]:
    """Return the parts with which to search for a match of ``part`` that contains a character outside the set
    ``characters``.

    One of the parts matches the last such character. Return an empty list if the part has no such character.
    """
    atom = part.part if isinstance(part, Repeat) else part
    if _is_within(part, characters) or not isinstance(atom, Atom):
        return []
    others = atom.characters & ~characters
    last = Atom(others, others.text, len(others.ranges))
    inner = _narrowed(atom, characters)
    if not isinstance(part, Repeat) or part.high is not None or inner is None:
        return [last]
    return [Repeat(atom, 0, None), last, Repeat(inner, 0, None)]


def _around(loop: Atom, parts: list[Part]) -> Search | None:
    """Return the search for an expression whose parts are separated by unbounded repetitions of ``loop``.

    Return None if there is no search whose number of steps is bounded.
    """
    pieces: list[list[Part]] = [[]]
    for own in parts:
        if isinstance(own, Repeat) and own.high is None and own.part == loop:
            pieces[-1] += [loop] * own.low
            pieces.append([])
        else:
            pieces[-1].append(own)
    runs = [Run(tuple(piece)) for piece in pieces]
    start, total, times = guard(loop), LOOKING_BACK, 1
    is_anchored = runs[0].parts[:1] == (Anchor("^"),)
    if is_anchored:
        beginning = _beginning(runs.pop(0))
        if beginning is None:
            return None
        start, total, times = beginning
    for place, head in enumerate(runs[:-1]):
        if not _is_within(head, loop.characters):
            return None
        trimmed = _stripped(head, at_end=True)
        if place or is_anchored:
            trimmed = _stripped(trimmed, at_end=False)
            if trimmed == Run(()):
                continue
        seeking = _attempted(trimmed)
        if is_nullable(trimmed) or seeking is None or not _ends_once(trimmed):
            return None
        total += times * (seeking + 1)
        start += f"(?>{loop.text}*?{spelled(trimmed, capturing=False)})"
    last = _stripped(runs[-1], at_end=False, within=loop.characters)
    following = _attempted(last)
    if following is None:
        return None
    return Search(f"{start}{loop.text}*{spelled(last, capturing=False)}", 0, total + times * (following + 1))


def _beginning(anchored: Run) -> tuple[str, int, int] | None:
    """Return the text of the part that is tried only at the start of a text.

    Also return the number of its steps and the number of ways to match it. Return None if the part has another anchor,
    or if its steps or its ways to match are not bounded.
    """
    rest = Run(anchored.parts[1:])
    count = _attempted(anchored)
    if has_anchor(rest) or count is None:
        return None
    text, times = spelled(rest, capturing=False), path_count(rest)
    if times is not None:
        return f"^{text}", count, times
    return (f"^(?>{text})", count, 1) if _ends_once(rest) else None


def _ends_once(head: Part) -> bool:
    return not Automaton.of(head).ends_within_itself()


# -- the place or the text of a match


def _at_runs(tree: Part, use: Use, group: int) -> Search | None:
    """Return a search whose leading repetitions are tried only at the beginnings of runs of their characters. Return
    None if the search still takes too many steps, or the expression matches the empty text.
    """
    found = guarded(tree, is_repeated=use in (Use.ALL, Use.ALL_FROM), is_from_start=use is not Use.ALL_FROM)
    return None if found is None else Search(found[0], group, found[1])


def _first_head(tree: Part, group: int) -> Search | None:
    """Return the search for ``id=(..) .*x`` that starts from the first head (``id=(..) ``) in each run of the repeated
    characters. Return None if the expression has no such head.
    """
    parts = _parts(tree)
    for place in range(1, len(parts)):
        loop = parts[place]
        while isinstance(loop, Group):
            loop = loop.part
        if not (isinstance(loop, Repeat) and loop.high is None and isinstance(loop.part, Atom)):
            continue
        head, rest = Run(tuple(parts[:place])), Run(tuple(parts[place:]))
        if not _is_within(head, loop.part.characters) or is_nullable(head) or not _ends_once(head) or is_lazy(head):
            continue
        if group and not _captures_always(head):
            continue  # the captures of a failed attempt would be kept
        seeking, following = _attempted(head), _attempted(Run(tuple(parts[place + 1 :])))
        if seeking is None or following is None:
            continue
        count = LOOKING_BACK + 2 * seeking + following + 2
        start = f"{guard(loop.part)}(?>{loop.part.text}*?"
        if group:
            return Search(f"{start}{spelled(head)}){spelled(rest)}", group, count)
        text = spelled(head, capturing=False)
        return Search(f"{start}(?={text}))((?>{text}){spelled(rest, capturing=False)})", 1, count)
    return None


def _whole_line(tree: Part, group: int) -> Search | None:
    """Return the search for an expression like ``^(.*)-(.*)$`` if all parts consist of characters of the last
    repetition; else None.

    The last repetition reaches the end of the text either from every position or from none, and a lookahead tests
    which.
    """
    parts = _parts(tree)
    if len(parts) < 3 or parts[0] != Anchor("^") or parts[-1] != Anchor("$") or is_lazy(tree):
        return None
    loop = parts[-2]
    while isinstance(loop, Group):
        loop = loop.part
    if not (isinstance(loop, Repeat) and loop.high is None and isinstance(loop.part, Atom)):
        return None
    inner = Run(tuple(parts[1:-1]))
    own = _attempted(Run(tuple(parts[:-1]))) if _is_within(inner, loop.part.characters) else None
    if own is None:
        return None
    return Search(f"^(?={loop.part.text}*$){spelled(inner)}$", group, own + LOOKING_BACK)
