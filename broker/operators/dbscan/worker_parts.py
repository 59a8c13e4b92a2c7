"""The cache of the parts of a feed that a Python worker of Spark computed last."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from asc.operators.dbscan.clusters import Clusters
from asc.operators.dbscan.records import DbscanOutput
from asc.operators.dbscan.warm_up import warm_up
from asc.operators.exclusions import FeedCounts
from broker.operators.feed_part import PARTS

CACHE_BYTES = 256 << 20
"""The largest number of bytes of the parts that a worker caches between two batches. The parts that were read longest
ago are dropped first.
"""


class WorkerParts:
    """The parts of a feed that one worker process caches, each keyed by the bytes of its state.

    The object is sent to workers as a broadcast; each process keeps one copy for as long as it runs. Invariant: a
    cached part is reused only for exactly the bytes that it wrote, and behaves like a part read from these bytes. So no
    result depends on the cache. Memory: CACHE_BYTES and the part that is being computed.
    """

    def __init__(self, capacity_bytes: int = CACHE_BYTES) -> None:
        self._capacity_bytes = capacity_bytes
        self._kept: dict[bytes, Clusters] = {}
        self._is_warm = False

    def taken(self, state: bytes | None) -> WorkerPart:
        """Return the part that wrote a state, from the cache if the part is cached. If ``state`` is None, return an
        empty part.
        """
        if not self._is_warm:
            # Compiling before the first window is due saves seconds, if this machine has no compiled kernels yet.
            warm_up()
            # Without this, each full garbage collection would visit all imported objects. Windows leave no cycles.
            gc.collect()
            gc.freeze()
            self._is_warm = True
        kept = None if state is None else self._kept.pop(state, None)
        if kept is None:
            kept = Clusters() if state is None else Clusters.of_bytes(state)
        kept.count_anew()
        return WorkerPart(kept, self)

    def keep(self, state: bytes, part: Clusters) -> None:
        """Cache a part, keyed by the bytes of its state, and drop other parts beyond the capacity."""
        self._kept[state] = part
        while len(self._kept) > PARTS or self._held_bytes() > self._capacity_bytes:
            del self._kept[next(iter(self._kept))]

    def _held_bytes(self) -> int:
        return sum(len(state) + part.cache_bytes for state, part in self._kept.items())


@dataclass(frozen=True, slots=True, eq=False)
class WorkerPart:
    """A part of a feed while a task computes it. When it writes its state, it is added to the cache of the worker
    process.
    """

    part: Clusters
    worker: WorkerParts

    @property
    def counts(self) -> FeedCounts:
        """Return the counts of the messages that were read."""
        return self.part.counts

    @property
    def held(self) -> int:
        """Return the number of points in the part."""
        return self.part.held

    def read(self, texts: Iterable[str | bytes]) -> Iterator[DbscanOutput]:
        """Yield the records of the next messages."""
        return self.part.read(texts)

    def to_bytes(self) -> bytes:
        """Return the state as bytes, and cache the part in the worker, keyed by these bytes."""
        state = self.part.to_bytes()
        self.worker.keep(state, self.part)
        return state
