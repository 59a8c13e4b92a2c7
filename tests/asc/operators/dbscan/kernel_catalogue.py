"""Windows of DBSCAN queries of every shape, as the workers of a daemon compute them."""

from __future__ import annotations

import itertools

import numpy as np

from asc.operators.dbscan.clusters import Clusters
from asc.operators.dbscan.dbscan_query import MEMBERS
from asc.operators.feed import Message, Watermarks
from tests.asc.operators.dbscan.model import MS, Record, query, settings, texts

_BATCHES = (0, 1, 2, 60, 200)
"""Points that come between two watermarks."""


def evaluate_kernels() -> int:
    """Compute windows by pairs and by cells, with kept neighbours and labels and without, from the state as from the
    bytes that it was read from; return the number of records.
    """
    count = 0
    for attributes, is_crowded in itertools.product((1, 2, 3, 8), (False, True)):
        for is_position in {False, attributes == 2}:
            messages = _messages(attributes, is_position=is_position, is_crowded=is_crowded)
            kept, bare = Clusters(), Clusters(label_bytes=0, keeps_neighbours=False)
            for batch in messages:
                count += sum(1 for _ in kept.read(texts(batch)))
                bare = Clusters.of_bytes(bare.to_bytes(), label_bytes=0, keeps_neighbours=False)
                count += sum(1 for _ in bare.read(texts(batch)))
            count += sum(1 for _ in kept.settled())
    return count


def _messages(attributes: int, *, is_position: bool, is_crowded: bool) -> list[list[Message]]:
    random = np.random.default_rng(attributes)
    spread = 1e-6 if is_crowded else 40.0
    own = {"attributes": attributes, "is_position": is_position}
    queries = [
        query(f"q{number}", eps=eps, min_samples=least, members=members, **own, **windows)
        for number, (eps, least, members, windows) in enumerate(
            (eps, least, members, windows)
            for eps in (0.5, 0.75, 1.0, 1e-7)
            for least, members in zip((1, 3, 40), MEMBERS, strict=True)
            for windows in ({}, {"is_timed": False, "window": 30, "slide": 7})
        )
    ]
    found: list[list[Message]] = [[settings(*queries)]]
    offset = 0
    for number, size in enumerate((*_BATCHES, *_BATCHES)):
        values = random.random((size, attributes)) * spread
        times = random.integers(0, 12, size) * MS + number * 10 * MS
        records = [
            Record(time_us, tuple(own), offset=offset + place)
            for place, (time_us, own) in enumerate(zip(times.tolist(), values.tolist(), strict=True))
        ]
        offset += size
        found.append([*(own.message() for own in records), Watermarks({"ts": number * 10 * MS})])
    return found
