"""Regular expressions that may stand in a predicate, and the work they take."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.predicate.regular_expression import rlike_trouble, rlike_work


@pytest.mark.parametrize(
    ("pattern", "part"),
    [
        ("(a*)*", "repeated group"),
        ("a*b", "leading ^"),
        ("(a*|c)b", "leading ^"),
        ("(a*|c)", "leading ^"),
        ("(a+)$", "leading ^"),
        ("^a*a*b", "must not match|can match the same"),
        ("(?=a)", "only plain groups"),
        ("a{3,1}", "m < n"),
        (r"\1", "not allowed"),
        ("[a", "has no ]"),
        ("(a", "has no )"),
        ("a{0,1001}", "steps"),
        (r"\bword\b", "accents"),
        ("a{140,141}" * 7 + "b", "steps"),
        ("[0-9]{999}x", "steps"),
        ("a" + "(|)" * 60 + "$", "steps"),
        ("^" + "a{0,30}" * 4 + "b", "steps, more than 2000"),
        ("a{9999,}", "steps"),
        ("^.*a{9999,}", "steps"),
        ("[^b]{600,}", "steps"),
        ("[" + "\u4e00\u4e01\u4e02\u4e03" * 50 + "]{9}x", "steps"),
        ("^a*" + "a{0,30}" * 2 + "b", "steps"),
        ("x" * 501, "at most 500"),
    ],
)
def test_regular_expressions_that_are_refused(pattern: str, part: str) -> None:
    assert any(own in (rlike_trouble(pattern) or "") for own in part.split("|"))


@pytest.mark.parametrize(
    ("pattern", "work"),
    [
        ("error", 5),
        ("^error", 0),
        ("error|warning", 12),
        ("^a|b", 3),
        ("(a|bc)d", 5),
        ("[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}", 159),
        ("^[A-Z]{2}[0-9]{1,9}$", 0),
        ("^.*b", 2),
        ("^a?[b-z]*[0-9]{3}$", 10),
        ("error.*", 6),
        ("a{3,}", 3),
        ("[\u00e9x\u4e00]b", 3),
        ("([0-9]+)", 1),
        ("a+|b*|cd+", 4),
        ("((ab+))", 2),
    ],
)
def test_the_steps_for_each_character(pattern: str, work: int) -> None:
    assert rlike_work(pattern) == work


class _Counted:
    """A matcher by the book that goes back over every choice, and counts the characters it looks at."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.steps = 0

    def ends(self, parts: list[object], place: int) -> bool:
        """Whether the parts match from a place on; lists are alternatives, pairs an atom and its repetition."""
        if not parts:
            return False  # as if what follows never matched: every way is gone
        head, rest = parts[0], parts[1:]
        if isinstance(head, list):
            return any(self.ends([*alternative, *rest], place) for alternative in head)
        character, low, high = head  # type: ignore[misc]
        taken = 0
        while taken < high:
            self.steps += 1
            if not self.text.startswith(character, place + taken):
                break
            taken += 1
        return any(self.ends(rest, place + count) for count in range(taken, low - 1, -1))


atoms = st.tuples(st.sampled_from("ab"), st.integers(0, 3), st.integers(0, 3)).map(
    lambda atom: (atom[0], min(atom[1:]), max(atom[1:]))
)
sequences = st.lists(st.one_of(atoms, st.lists(st.lists(atoms, max_size=2), min_size=1, max_size=3)), max_size=5)


def written(parts: list[object]) -> str:
    return "".join(
        f"({'|'.join(written(one) for one in part)})" if isinstance(part, list) else "{}{{{},{}}}".format(*part)
        for part in parts  # type: ignore[str-format]
    )


@given(sequences, st.text("ab", max_size=12))
def test_no_matcher_takes_more_steps_than_are_counted(parts: list[object], text: str) -> None:
    counted = _Counted(text)
    counted.ends(parts, 0)
    try:
        work = rlike_work(written(parts))
    except ValueError as refused:
        work = int(re.search(r"\d+", str(refused))[0])  # type: ignore[index]
    assert counted.steps <= work
