"""The steps that a matcher takes are those that are counted."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.predicate.regex import backtracking
from asc.predicate.regex.backtracking import path_count, steps
from asc.predicate.regex.pattern_tree import Anchor, Atom, Choice, Group, Look, Part, Repeat, Run
from asc.predicate.regex.regular_expression import regular_expression


@pytest.mark.parametrize(
    ("pattern", "count"),
    [
        ("error", 5),
        ("^error", 0),
        ("error|warning", 12),
        ("^a|b", 3),
        ("(a|bc)d", 5),
        ("[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}", 159),
        ("([0-9]{1,3}\\.){3}[0-9]{1,3}", 159),
        ("^[A-Z]{2}[0-9]{1,9}$", 0),
        ("error.*", 6),
        ("a{3,}", 3),
        ("[\u00e9x\u4e00]b", 3),
        ("([0-9]+)", 1),
        ("a+|b*|cd+", 4),
        ("((ab+))", 2),
        ("(a*|c)", 2),
        ("foo\\s*=\\s*bar", 4),
        ("^a*b*c*d*$", 6),
        ("a(?=bc)", 4),
        ("(?<![a-z]{2})a", 8),
        ("^(?=.*a)(?!bc)d", 6),
        ("a[^b]{0,2}?b", 6),
    ],
)
def test_the_steps_for_each_character(pattern: str, count: int) -> None:
    assert steps(regular_expression(pattern)) == count


AGAIN = r"""
a+b [a-z]+b (a+)$ \d+\s a*b .*a ^a*a*b ^.*a.*b error.*timeout \[[^\]]*\] (\d+)?[a-z]+x \s+$ (ab)*c
^a*[a-c]a*e
"""


@pytest.mark.parametrize("pattern", AGAIN.split())
def test_what_reads_a_text_again_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="read the text again"):
        steps(regular_expression(pattern))


@pytest.mark.parametrize(
    "pattern",
    [
        "a{0,1001}",
        "a{140,141}" * 7 + "b",
        "[0-9]{999}x",
        "a" + "(|)" * 60 + "$",
        "^" + "a{0,30}" * 4 + "b",
        "a{9999,}",
        "^.*a{9999,}",
        "[^b]{600,}",
        "[" + "\u4e00\u4e01\u4e02\u4e03" * 50 + "]{9}x",
        "^a*" + "a{0,30}" * 2 + "b",
        "x" + "(a|a)" * 9 + "b*c",
    ],
)
def test_what_takes_too_many_steps_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"steps|read the text again|more than 500 characters"):
        steps(regular_expression(pattern))


def test_a_pattern_tried_once_takes_as_many_steps_as_the_limit_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = regular_expression("^" + "a{0,30}" * 3 + "b")
    monkeypatch.setattr(backtracking, "_MAX_STEPS_ONCE", 0)
    with pytest.raises(ValueError, match="more than 0") as caught:
        steps(pattern)
    taken = int(str(caught.value).split("take ")[1].split()[0])
    monkeypatch.setattr(backtracking, "_MAX_STEPS_ONCE", taken)
    assert steps(pattern) == 0
    monkeypatch.setattr(backtracking, "_MAX_STEPS_ONCE", taken - 1)
    with pytest.raises(ValueError, match=f"it may take {taken} steps, more than {taken - 1}"):
        steps(pattern)


def test_ways() -> None:
    assert path_count(regular_expression("(a|b)c{1,3}")) == 6
    assert path_count(regular_expression("ab*c")) is None


class _Counted:
    """A matcher by the book that goes back over every choice, and counts the characters it looks at. What follows the
    expression never matches, so that every way is gone, but for what ends with a loop without bound.
    """

    def __init__(self, text: str, guarded: list[Atom]) -> None:
        self.text = text
        self.steps = 0
        self._guarded = guarded

    def search(self, part: Part) -> None:
        place = 0
        while place <= len(self.text):
            end = next(self._ends(part, place), None)
            place = place + 1 if end is None or end == place else end

    def _ends(self, part: Part, place: int) -> Iterator[int]:
        if isinstance(part, Atom):
            yield from [place + 1] if self._reads(part, place) else []
        elif isinstance(part, Anchor):
            yield from [place] if place == (0 if part.text == "^" else len(self.text)) else []
        elif isinstance(part, Look):
            begins = range(place + 1) if "<" in part.text else (place,)
            ends = [self._ends(part.part, begin) for begin in reversed(begins)]
            holds = any(end == place or "<" not in part.text for own in ends for end in own)
            yield from [place] if holds is ("=" in part.text) else []
        elif isinstance(part, Group):
            yield from self._ends(part.part, place)
        elif isinstance(part, Choice):
            for option in part.options:
                yield from self._ends(option, place)
        elif isinstance(part, Run):
            yield from self._run(part.parts, place)
        else:
            yield from self._repeated(part, place, 0)

    def _run(self, parts: tuple[Part, ...], place: int) -> Iterator[int]:
        if not parts:
            yield place
            return
        for end in self._ends(parts[0], place):
            yield from self._run(parts[1:], end)

    def _repeated(self, part: Repeat, place: int, times: int) -> Iterator[int]:
        is_shut = place and any(part.part is own for own in self._guarded) and self._is(part.part, place - 1)
        if times == 0 and is_shut:
            return
        if part.is_lazy and times >= part.low:
            yield place
        if part.high is None or times < part.high:
            for end in self._ends(part.part, place):
                yield from self._repeated(part, end, times + 1)
        if times >= part.low and not part.is_lazy:
            yield place

    def _is(self, atom: Part, place: int) -> bool:
        assert isinstance(atom, Atom)
        character = ord(self.text[place]) if place < len(self.text) else -1
        return any(low <= character <= high for low, high in atom.characters.ranges)

    def _reads(self, atom: Atom, place: int) -> bool:
        self.steps += 1
        return self._is(atom, place)


pieces = st.sampled_from(
    [
        *(
            "a",
            "b",
            "c",
            "ab",
            "[ab]",
            "[^a]",
            "a*",
            "b+",
            "[ab]*",
            "[^c]+",
            "c?",
            "a{1,3}",
            "b{0,2}",
            "(a|b)",
            "(ab|a)",
        ),
        *("(ab)*", "(a|bc){1,2}", "(b+)?", "(ca?)?", "c{2,}", "(^|c)", "$"),
        *("a*?", "b+?", "[ab]{0,2}?", "(?=ab?)", "(?!b|ac)", "(?=[ab]{0,3}c)"),
    ]
)
patterns = st.lists(pieces, min_size=1, max_size=5).map("".join)
texts = st.one_of(
    st.text("abc", max_size=30), st.text("abc", min_size=1, max_size=4).map(lambda unit: (unit * 30)[:40])
)


def count_of(tree: Part, guarded: list[Atom]) -> int | None:
    try:
        return steps(tree, guarded)
    except ValueError as refused:
        found = re.search(r"take (\d+) steps", str(refused))
        return int(found[1]) if found else None


@given(patterns, texts)
def test_no_matcher_takes_more_steps_than_are_counted(pattern: str, text: str) -> None:
    tree = regular_expression(pattern)
    count = count_of(tree, [])
    if count is not None:
        counted = _Counted(text, [])
        counted.search(tree)
        # Once more for what is read at the end, and for what is tried at the start alone.
        assert counted.steps <= (count + 1) * (len(text) + 2) + (0 if count else 2_000)


@given(st.sampled_from(["a*", "a+", "[ab]+", "[^c]*", "b{2,}"]), patterns, texts)
def test_a_guarded_loop_reads_each_run_once(loop: str, rest: str, text: str) -> None:
    tree = regular_expression(f"({loop}){rest}")
    assert isinstance(tree, Run)
    (group, *_) = tree.parts
    assert isinstance(group, Group)
    assert isinstance(group.part, Repeat)
    assert isinstance(group.part.part, Atom)
    guarded = [group.part.part]
    count = count_of(tree, guarded)
    if count is not None:
        counted = _Counted(text, guarded)
        counted.search(tree)
        assert counted.steps <= (count + 1) * (len(text) + 2)
