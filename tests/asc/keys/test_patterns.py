"""Many patterns found by reading a text once, compared with one pattern at a time."""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.errors import PlanError
from asc.keys.dictionary import Dictionary
from asc.keys.like import ANY, like_accepts
from asc.keys.patterns import _FEW, CHAIN_MAX, Patterns, PatternSet

LITERALS = st.text("ab", min_size=1, max_size=3) | st.text("aé€", min_size=1, max_size=2)
TEXTS = st.lists(st.text("ab", max_size=12) | st.text("aé€", max_size=8), max_size=8)


def key(segments: list[str], before: bool, after: bool) -> bytes:
    own = ANY.join(segment.encode() for segment in segments)
    # A text as it stands, and the beginning of one, are intervals and never come here.
    return ANY * (before or len(segments) == 1) + own + ANY * after


KEYS = st.sets(
    st.builds(key, st.lists(LITERALS, min_size=1, max_size=4), st.booleans(), st.booleans()), min_size=1, max_size=12
)


def found(patterns: Patterns | PatternSet, texts: list[str]) -> list[list[int]]:
    ends, labels = patterns.find(pa.array(texts, pa.string()))
    return [labels[low:high].tolist() for low, high in pairwise(ends)]


def expected(dictionary: Dictionary, keys: set[bytes], texts: list[str]) -> list[list[int]]:
    accepted = [[one for one in keys if like_accepts(one, text.encode())] for text in texts]
    return [sorted(dictionary.label(one) for one in own) for own in accepted]


@settings(deadline=None)  # the first call compiles
@given(KEYS, TEXTS)
def test_each_text_has_the_patterns_that_accept_it(keys: set[bytes], texts: list[str]) -> None:
    dictionary = Dictionary.of(keys)
    patterns = Patterns.of(dictionary)
    assert len(patterns) == len(keys)
    assert found(patterns, texts) == expected(dictionary, keys, texts)
    # A slice of a column begins anywhere.
    column = pa.array(["aab", *texts])[1:]
    assert patterns.find(column)[1].tolist() == [label for own in found(patterns, texts) for label in own]


@settings(deadline=None)
@given(KEYS, st.lists(KEYS, max_size=3), TEXTS)
def test_later_patterns_are_found_beside_those_before(
    first: set[bytes], more: list[set[bytes]], texts: list[str]
) -> None:
    dictionary, keys = Dictionary.of(first), set(first)
    patterns = Patterns.of(dictionary)
    for added in more:
        wider = dictionary.with_constants(added)
        assert wider is not None
        dictionary, keys = wider, keys | added
        patterns = patterns.with_constants(added, dictionary)
    assert patterns.with_constants(keys, dictionary) is patterns
    assert found(patterns, texts) == expected(dictionary, keys, texts)
    spread = Dictionary.of(keys | {b"other"})
    assert found(patterns.relabelled(spread), texts) == expected(spread, keys, texts)


def test_many_later_patterns_become_one_set_with_the_others() -> None:
    keys = {ANY + f"{number} ".encode() + ANY for number in range(_FEW + 1)}
    first = {ANY + b"x" + ANY}
    dictionary = Dictionary.of(first | keys)
    some = set(sorted(keys)[:_FEW])
    beside = Patterns.of(Dictionary.of(first)).relabelled(dictionary).with_constants(some, dictionary)
    assert len(beside.sets) == 2
    assert len(beside.with_constants(keys, dictionary).sets) == 1


def test_too_many_literals_that_end_in_one_another_are_refused() -> None:
    # Each byte of a text may end all of them, however many other patterns move on meanwhile.
    keys = [ANY + b"b" * (CHAIN_MAX - length) + b"a" + ANY for length in range(CHAIN_MAX + 1)]
    with pytest.raises(PlanError, match=f"end in one another {CHAIN_MAX + 1}: at most {CHAIN_MAX}"):
        PatternSet.of({key: 2 * number for number, key in enumerate(keys)})


@pytest.mark.parametrize(
    "keys",
    [
        [ANY + b"a" * length + ANY for length in range(1, CHAIN_MAX + 1)],
        [ANY + b"a" * 200 + ANY + b"a" * 200 + ANY + b"%d" % number for number in range(2_000)],
        [ANY + b"a" + ANY + b"b%d" % number + ANY for number in range(2_000)],
        [ANY + b"ab" + ANY + b"ab" + ANY + b"ab" + ANY + b"q%d" % number for number in range(2_000)],
    ],
    ids=["one within the other", "overlapping", "one beginning", "repeated"],
)
def test_patterns_made_to_take_long(keys: list[bytes]) -> None:
    """A step for every pattern at every place of the text would be minutes."""
    dictionary = Dictionary.of(keys)
    texts = ["a" * 100_000, "ab" * 50_000]
    assert found(Patterns.of(dictionary), texts) == expected(dictionary, set(keys), texts)
