r"""Guards for the leading repetitions of an expression: a guard lets a repetition begin only at the beginning of a run.

A run is a maximal sequence of the characters that are repeated. The expression ``[a-z]+b`` is tried at each character,
and each attempt reads the rest of a run of letters. But if there is a match from within a run, there is also a match
from the beginning of the run. So a lookbehind stops every attempt but the first: ``(?<![a-z])[a-z]+b``.

If all matches are searched for, the next match may begin where the previous one ended, which ``\G`` matches. This is
not needed if every match ends with something after which the repetition cannot start within a run. The expression must
not match the empty text, because Java then continues one character later.

With ``(?:\G|(?<!C))C+X`` a run is read three times at most. It is read from its beginning, from the end of a match that
started before the run, and in vain after the last X in it. The last happens since C+ is greedy.

Java also starts between the two surrogates of a character beyond U+FFFF, and a lookbehind from there does not see the
first surrogate. The lookahead ``_WHOLE`` prevents such starts. They would find nothing that is not found one code unit
earlier, as long as each set that contains a low surrogate contains all characters beyond U+FFFF.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from asc.predicate.regex.automaton import Automaton
from asc.predicate.regex.backtracking import steps
from asc.predicate.regex.character_set import CharacterSet
from asc.predicate.regex.pattern_tree import Anchor, Atom, Choice, Group, Part, Repeat, Run, is_nullable, spelled

_WHOLE = r"(?![\x{dc00}-\x{dfff}])"
_RETURN, _NEWLINE = CharacterSet.of("\r"), CharacterSet.of("\n")
LOOKING_BACK = 3
"""The number of steps that Java's matcher takes for a lookbehind at one character."""


def guard(atom: Atom) -> str:
    """Return a lookbehind, as the text of a regular expression, that matches if the preceding character is not one of
    the atom's characters.

    For an atom that contains low surrogates, the text also has a lookahead that excludes a position between two
    surrogates.

    >>> from asc.predicate.regex.regular_expression import regular_expression
    >>> guard(regular_expression("[a-z]"))
    '(?<![a-z])'
    """
    return f"(?<!{atom.text})" + (_WHOLE if atom.characters.has_low_halves else "")


def guarded(tree: Part, *, is_repeated: bool, is_from_start: bool) -> tuple[str, int] | None:
    """Return the text of an expression with guards before its leading repetitions, and the number of steps for each
    character of a searched text.

    Return None if the expression matches the empty text or takes too many steps even with guards. ``is_repeated``:
    whether all matches are searched for. ``is_from_start``: whether the search begins at the start of a text, not at a
    position that may lie between two surrogates.
    """
    if is_nullable(tree):
        return None
    automaton = Automaton.of(tree)
    guards: dict[int, str] = {}
    atoms_guarded = []
    times = 1
    loops = list(_front_loops(tree))
    for loop in loops:
        atom = loop.part
        assert isinstance(atom, Atom)
        if not _is_apart(automaton, atom):
            continue
        text = guard(atom)
        if is_repeated and not _begins_apart(automaton, loop):
            if len(loops) > 1 or not _is_front(tree, loop):
                continue
            text, times = f"(?:\\G|{text})", 3
        elif not is_from_start and atom.characters.has_low_halves:
            continue
        guards[id(loop)] = text
        atoms_guarded.append(atom)
    try:
        own = steps(tree, atoms_guarded)
    except ValueError:
        return None
    return spelled(_with_guards(tree, guards)), times * (own + LOOKING_BACK * len(guards))


def _front_loops(part: Part) -> Iterator[Repeat]:
    """Yield the unbounded repetitions of single characters with which a match of the part may begin."""
    if isinstance(part, Group):
        yield from _front_loops(part.part)
    elif isinstance(part, Choice):
        for own in part.options:
            yield from _front_loops(own)
    elif isinstance(part, Run):
        for own in part.parts:
            yield from _front_loops(own)
            if isinstance(own, Anchor) or not is_nullable(own):
                break
    elif isinstance(part, Repeat):
        if part.high is None and isinstance(part.part, Atom):
            yield part
        elif part.high == 1:
            yield from _front_loops(part.part)


def _is_front(tree: Part, loop: Repeat) -> bool:
    """Return whether every match of the expression ``tree`` begins with the repetition ``loop``."""
    part = tree
    while part is not loop:
        if isinstance(part, Group):
            part = part.part
        elif isinstance(part, Run):
            part = part.parts[0]
        else:
            return False
    return True


def _is_apart(automaton: Automaton, atom: Atom) -> bool:
    """Return whether, within a match, the character before the repetition of the atom is never one of the atom's
    characters.
    """
    own = {place for place, other in enumerate(automaton.atom_of) if other is atom}
    entered = [place for place in own if place in automaton.first]
    return not any(automaton.is_sink(place) for place in entered) and not any(
        automaton.characters[place].meets(atom.characters)
        for place, follow in enumerate(automaton.follow)
        if place not in own and any(after in follow for after in entered)
    )


def _begins_apart(automaton: Automaton, loop: Repeat) -> bool:
    """Return whether it is certain that no match begins with the repetition ``loop`` directly after a match that ends
    within a run.
    """
    atom = loop.part
    assert isinstance(atom, Atom)
    ends = set(automaton.last)
    for place, follow in enumerate(automaton.follow):
        if any(automaton.atom_of[after] is None for after in follow):
            ends.add(place)
    for place in ends:
        characters = automaton.characters[place]
        if not characters.meets(atom.characters):
            continue
        # A greedy loop leaves none of its characters after it.
        beyond = [after for after in automaton.follow[place] if automaton.atom_of[after] is not None]
        if not (loop.low and beyond == [place] and atom.characters <= characters):
            return False
        # The exception is the \r of a final \r\n: the loop reads the \r, although $ matches before the \r.
        if characters.meets(_RETURN) and not characters.meets(_NEWLINE):
            return False
    return True


def _with_guards(part: Part, guards: dict[int, str]) -> Part:
    if id(part) in guards:
        return Run((Anchor(guards[id(part)]), part))
    if isinstance(part, Group):
        return Group(_with_guards(part.part, guards), part.is_capturing)
    if isinstance(part, Run):
        return Run(tuple(_with_guards(own, guards) for own in part.parts))
    if isinstance(part, Choice):
        return Choice(tuple(_with_guards(own, guards) for own in part.options))
    if isinstance(part, Repeat) and isinstance(part.part, Group):
        return replace(part, part=_with_guards(part.part, guards))
    return part
