"""One tick of a near query: what it shares with another, and what is told of a pair."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa

from asc.operators.near.near_query import NearQuery
from asc.operators.near.pair_tick import PairTick, pairs_of_bytes, pairs_to_bytes, table_of_bytes, table_to_bytes
from asc.operators.near.positions import ROW_SCHEMA, Snapshot

QUERY = NearQuery("close", "out", "n1", "ts", ("s",), ("near", "apart"), 1_000.0, 30, 10, "a.z < b.z")


def tick(keys: str, *pairs: tuple[int, int]) -> PairTick:
    """Objects by one letter each, in order, at latitudes a tenth of a degree apart."""
    rows = [(key, 5, 3, number, 7.5, number / 10, f'{{"z":{number}}}') for number, key in enumerate(keys)]
    columns = list(zip(*rows, strict=True)) or [[] for _ in ROW_SCHEMA]
    found = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return PairTick(Snapshot(pa.table(columns, schema=ROW_SCHEMA)), found, "ships")


def named(own: PairTick, pairs: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> list[str]:
    return ["".join(own.objects.keys[place] for place in pair) for pair in pairs.tolist()]


def test_pairs_are_parted_by_whether_another_tick_has_them() -> None:
    before, now = tick("abde", (0, 1), (1, 2), (2, 3)), tick("abcd", (0, 1), (1, 2), (1, 3))
    only, both, there = now.without(before)
    assert (named(now, only), named(now, both), named(before, there)) == (["bc"], ["ab", "bd"], ["ab", "bd"])
    only, both, there = before.without(now)
    assert (named(before, only), named(before, both), named(now, there)) == (["de"], ["ab", "bd"], ["ab", "bd"])
    only, both, _ = now.without(tick("", *()))
    assert (named(now, only), len(both)) == (["ab", "bc", "bd"], 0)


def test_what_is_told_of_a_pair_is_json_whatever_its_keys_are() -> None:
    own = tick('"é', (0, 1))
    (event,) = own.events(QUERY, "near", "2026-01-01T00:00:10.000000Z", [("{}", None)])
    plain = json.loads(event.value)
    assert json.loads(event.key) == plain["keys"] == ['"', "é"]
    assert plain["sources"] == ["ships-3-0", "ships-3-1"]
    assert plain["positions"] == [[7.5, 0.0], [7.5, 0.1]]
    assert (event.own, event.other) == (('{"z":0}', '{"z":1}'), ("{}", None))
    # As a JSON library would write it.
    assert event.value == json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


def test_a_state_is_what_its_bytes_say() -> None:
    own = tick("abc", (0, 1), (1, 2))
    assert pairs_of_bytes(pairs_to_bytes(own.pairs)).tolist() == own.pairs.tolist()
    assert pairs_of_bytes(b"").shape == (0, 2)
    assert table_of_bytes(table_to_bytes(own.objects.rows)) == own.objects.rows
