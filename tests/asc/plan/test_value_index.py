"""The index of values finds what a dictionary finds, whatever the keys are."""

from __future__ import annotations

import numpy as np
import pytest

from asc.compiled import compiled
from asc.keys.grid import KEY_MAX, KEY_MIN, Keys
from asc.plan.value_index import ValueIndex, place_of, shift_of

INVERSE = pow(0x9E3779B97F4A7C15, -1, 1 << 64)


@compiled
def found_places(spread: np.ndarray, heads: np.ndarray, keys: np.ndarray, out: np.ndarray) -> None:  # type: ignore[type-arg]
    shift = shift_of(heads)
    for i in range(keys.size):
        out[i] = place_of(spread, heads, shift, keys[i])


def clustered(count: int) -> Keys:
    """Keys that are next to each other once they are spread."""
    return np.array([(own * INVERSE) % (1 << 64) for own in range(count)], dtype=np.uint64).view(np.int64)


@pytest.mark.parametrize(
    "keys",
    [
        np.array([5], dtype=np.int64),
        np.array([KEY_MIN, -1, 0, 1, KEY_MAX], dtype=np.int64),
        np.arange(1_000, dtype=np.int64) << 40,
        np.random.default_rng(3).integers(-(1 << 62), 1 << 62, 3_000),
        clustered(2_000),
    ],
    ids=["one", "ends", "steps", "drawn", "clustered"],
)
def test_every_key_has_its_conjuncts_and_others_have_none(keys: Keys) -> None:
    random = np.random.default_rng(0)
    asked, conjuncts = np.append(keys, random.choice(keys, 50)), np.append(np.arange(len(keys)), np.arange(50) + 10**6)
    index = ValueIndex.of(asked, conjuncts)
    expected: dict[int, list[int]] = {}
    for key, conjunct in zip(asked.tolist(), conjuncts.tolist(), strict=True):
        expected.setdefault(key, []).append(conjunct)
    assert len(index) == len(expected) == len(index.first) - 1
    others = np.setdiff1d(np.concatenate([keys ^ 1, random.integers(KEY_MIN, KEY_MAX, 500), [0, 2]]), keys)
    sought = np.concatenate([keys, others])
    places = np.empty(len(sought), dtype=np.int64)
    found_places(index.spread, index.heads, sought, places)
    for key, place in zip(sought.tolist(), places.tolist(), strict=True):
        own = index.conjuncts[index.first[place] : index.first[place + 1]].tolist() if place >= 0 else []
        assert own == index.conjuncts_for(key).tolist() == sorted(expected.get(key, []))
