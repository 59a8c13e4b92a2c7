"""What is left of the rows of a tuple, however many lines they have: both ways against one word after the other."""

from __future__ import annotations

from functools import reduce
from operator import or_

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.compiled import compiled
from asc.evaluation.bitmap_and import NARROW, and_narrow, and_short, keep_narrow, write_wide
from asc.evaluation.chunk_arrays import ChunkArrays, Scratch
from asc.plan.block import LINE, group_words
from asc.plan.block_arrays import BlockArrays, SequenceArrays
from asc.plan.conjuncts import TableArrays
from asc.plan.region_kernels import find_groups

MASK = 2**64 - 1
CONSTRUCTS = 10
PADDED = 12
REGIONS = 3
STARTS = 2
ROWS = 1 + CONSTRUCTS * REGIONS
WORDS = np.array([0, 1, 2**63, 0xFF00, MASK, MASK, MASK, MASK], dtype=np.uint64)
Left = list[tuple[int, int, int]]


NOTHING = np.empty(0, dtype=np.int32)
TABLE = TableArrays(NOTHING, np.empty(0, np.uint16), NOTHING, NOTHING, NOTHING, -(2**31), 2**31 - 1)


@compiled
def _left(  # noqa: PLR0917 (compiled functions take their arguments by position)
    is_narrow: bool,
    chunk: ChunkArrays,
    sequence: SequenceArrays,
    bitmaps: np.ndarray,
    start: int,
    block: BlockArrays,
    scratch: Scratch,
) -> tuple[int, int]:
    if not is_narrow:
        return write_wide(chunk, 0, sequence, bitmaps, start, block, scratch)
    if block.matrix.shape[1] < LINE:
        known = and_short(chunk, 0, sequence, bitmaps, start, block, scratch)
    else:
        known = and_narrow(chunk, 0, sequence, bitmaps, start, block, scratch)
    if known < 0:
        return 0, -known
    return keep_narrow(chunk, 0, sequence, block, scratch), known


class Rows:
    """A block of ``words`` words a row, and a tuple."""

    def __init__(self, words: int, seed: int) -> None:
        random = np.random.default_rng(seed)
        density = random.choice([0.2, 0.9, 0.99])
        drawn = random.choice(WORDS, (ROWS, words))
        self.matrix = np.where(random.random((ROWS, words)) < density, drawn | WORDS[3], WORDS[0])
        self.starts = np.where(random.random((STARTS, words)) < density, np.uint64(MASK), random.choice(WORDS))
        # What a tuple may begin with is never more than what is live, the first row.
        self.matrix[0] = reduce(or_, self.starts)
        self.start = int(random.integers(STARTS))
        self.masks = random.choice(WORDS, (5, words))
        self.places = random.integers(-1, 5 if random.random() < 0.8 else 0, ROWS).astype(np.int32)
        self.regions = random.integers(0, REGIONS, (CONSTRUCTS + 1, 1)).astype(np.uint16)
        self.regions[CONSTRUCTS] = 0
        self.places[0] = -1
        self.sequence = random.permutation(CONSTRUCTS)

    def left(self, width: str, span: int | None = None) -> tuple[Left, int]:
        """The words that are left, each with its number and what of it is in unverified; the constructs it took."""
        words = self.matrix.shape[1]
        span = span or group_words(words)
        groups = np.zeros(ROWS, dtype=np.uint64)
        find_groups(self.matrix, span, groups)
        slots = np.append(self.sequence, np.full(PADDED - CONSTRUCTS, -1))
        bases = np.append(1 + self.sequence * REGIONS, np.zeros(PADDED - CONSTRUCTS, dtype=np.int64))
        none = np.empty((0, 0), dtype=np.int64)
        scratch = Scratch.of(words, CONSTRUCTS)
        number, most = _left(
            width == "narrow",
            ChunkArrays(self.regions, none, np.empty(0, dtype=np.uint16), False, 0),
            SequenceArrays(slots, bases, CONSTRUCTS),
            self.starts,
            self.start,
            BlockArrays(self.matrix, groups, span, self.places, self.masks, True, TABLE),
            scratch,
        )
        grb, unverified, some = ([int(own) for own in each[:number]] for each in scratch[:3])
        return list(zip(some, grb, unverified, strict=True)), most

    def expected(self) -> tuple[Left, int]:
        """The same by hand; the constructs after which nothing is left, all of them where something is."""
        places = 1 + self.sequence * REGIONS + self.regions[self.sequence, 0]
        left, doubtful = self.starts[self.start].copy(), [own for own in self.places[places] if own >= 0]
        took = 0
        for place in places:
            if not left.any():
                break
            left &= self.matrix[place]
            took += 1
        words = range(self.matrix.shape[1])
        open_ones = [int(reduce(or_, (self.masks[own, word] for own in doubtful), np.uint64(0))) for word in words]
        return [(word, int(left[word]), open_ones[word]) for word in words if left[word]], took


@pytest.mark.parametrize(("width", "least", "most"), [("narrow", 1, NARROW), ("wide", LINE, 5 * LINE)])
@settings(deadline=None)  # the first call compiles
@given(data=st.data())
def test_words_that_are_left_and_what_of_them_is_in_doubt(
    width: str, least: int, most: int, data: st.DataObject
) -> None:
    """However many lines a row has, and whatever part of one the last is."""
    rows = Rows(data.draw(st.integers(least, most)), data.draw(st.integers(0, 2**32)))
    # Groups are of more than a line where a row has more than 64 of them.
    left, _ = rows.left(width, data.draw(st.sampled_from([LINE, 2 * LINE, 3 * LINE])))
    assert left == rows.expected()[0]


@pytest.mark.parametrize("words", [1, LINE - 1, LINE, NARROW - 1, NARROW])
def test_narrow_rows_are_done_with_four_constructs_after_nothing_is_left_at_most(words: int) -> None:
    early = 0
    for seed in range(200):
        rows = Rows(words, seed)
        _, took = rows.left("narrow")
        exactly = max(1, rows.expected()[1])
        assert took == min(PADDED, 4 * -(-exactly // 4))
        early += took < PADDED
    assert early > 20


def test_of_wide_rows_it_is_known_after_how_many_constructs_the_last_word_was_zero() -> None:
    early = 0
    for seed in range(300):
        rows = Rows(NARROW + 3, seed)
        left, took = rows.left("wide")
        exactly = rows.expected()[1]
        # Groups are looked at after four constructs, lines after eight.
        assert exactly <= took <= PADDED
        assert took == PADDED or not left
        early += took < PADDED
    assert early > 20


def whole(words: int) -> Rows:
    """Nothing is ruled out by anything."""
    rows = Rows(words, 0)
    rows.starts[:], rows.matrix[:] = np.uint64(MASK), np.uint64(MASK)
    return rows


def place(rows: Rows, number: int) -> int:
    """The row of the tuple's region in the construct of that number in sequence."""
    construct = rows.sequence[number]
    return int(1 + construct * REGIONS + rows.regions[construct, 0])


def test_a_group_that_nothing_is_left_of_is_not_read() -> None:
    """All groups are ruled out by the first construct: the others are not looked at."""
    rows = whole(NARROW + LINE)
    rows.matrix[place(rows, 0)] = 0
    assert rows.left("wide") == ([], 4)


def test_a_line_that_nothing_is_left_of_is_not_read_on() -> None:
    """Of each word one construct leaves some bits and the next one others, so that no group is ruled out."""
    rows = whole(NARROW + LINE)
    rows.matrix[place(rows, 0)], rows.matrix[place(rows, 1)] = WORDS[1], WORDS[2]
    assert rows.left("wide") == ([], LINE)
    rows.matrix[place(rows, 1)] = WORDS[1]
    rows.matrix[place(rows, LINE)] = WORDS[2]
    assert rows.left("wide") == ([], PADDED)
    # One group is gone only after nine constructs, however early all lines of the others are.
    rows.matrix[place(rows, 1)], rows.matrix[place(rows, LINE)] = WORDS[2], np.uint64(MASK)
    rows.matrix[place(rows, LINE), :LINE] = 0
    assert rows.left("wide") == ([], PADDED)
