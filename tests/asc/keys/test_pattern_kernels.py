"""The compiled loops of the automaton: the trie by hand, and room that runs out."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from asc.keys.like import ANY
from asc.keys.pattern_kernels import CHILD, FAIL, HIT, OUT
from asc.keys.patterns import PatternSet


def test_the_automaton_of_three_literals_by_hand() -> None:
    found = PatternSet.of({ANY + literal + ANY: 2 * place for place, literal in enumerate((b"abc", b"b", b"bd"))})
    # The root, a and b, ab and bd, abc: level by level.
    assert found.symbol.tolist()[1:] == list(b"abbdc")
    assert found.nodes[:, CHILD].tolist() == [1, 3, 4, 5, 6, 6, 6]
    assert found.nodes[:-1, FAIL].tolist() == [0, 0, 0, 2, 0, 0]
    assert found.nodes[:-1, OUT].tolist() == [-1, -1, 1, -1, 2, 0]
    assert found.nodes[:-1, HIT].tolist() == [0, 0, 2, 2, 4, 5]
    assert np.flatnonzero(found.root).tolist() == list(b"ab")


def test_labels_find_room_however_many_match() -> None:
    every = PatternSet.of({ANY + b"a" * length + ANY: 2 * length for length in range(1, 50)})
    # More than there is room for at first: a place a text, and twice as many as there are patterns.
    texts = pa.array(["a" * 60, "", "a", "b"] * 200)
    ends, labels = every.find(texts)
    assert len(labels) > len(texts) + 2 * len(every)
    assert np.diff(ends).tolist() == [49, 0, 1, 0] * 200
    assert labels[-50:].tolist() == [*(2 * length for length in range(1, 50)), 2]
