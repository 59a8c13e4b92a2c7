"""One tick of a near query: where objects are, and which two of them are near."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from json.encoder import encode_basestring

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from asc.spatial.shape import distance_sphere_m
from operators.events import time_text
from operators.feed import Kind, NearQuery
from operators.positions import Snapshot

Pairs = npt.NDArray[np.int64]
"""int64[pairs, 2]: places of objects in a snapshot, the smaller first, in ascending order."""

Carried = tuple[str | None, str | None]
"""What both objects of a pair carry."""


@dataclass(frozen=True, slots=True)
class PairEvent:
    """What is written for a near query, to ``topic``, with ``key`` (a JSON array of the two objects' keys, the smaller
    first), ``value`` (JSON) and ``identity``, each the same whenever it is told again.

    With a ``condition`` it is told where that holds of what the two carried (``own``), and does not of what they
    carried at the ``other`` tick, where they were near then too.
    """

    topic: str
    key: str
    value: str
    identity: str
    query: str
    source: str
    kind: Kind
    condition: str | None = None
    own: Carried | None = None
    other: Carried | None = None


@dataclass(frozen=True, eq=False)
class PairTick:
    """The objects at a tick, and those of their pairs that are near; the topic that their records are of.

    Cost: some 2 us an object that is told of, and 4 us a pair.
    """

    objects: Snapshot
    pairs: Pairs
    source_topic: str

    def of_pairs(self) -> PairTick:
        """It with the objects of its pairs alone, which is what the next tick is compared with."""
        places = np.unique(self.pairs)
        rows = self.objects.rows.take(pa.array(places)).combine_chunks()
        return PairTick(Snapshot(rows), np.searchsorted(places, self.pairs), self.source_topic)

    def without(self, other: PairTick) -> tuple[Pairs, Pairs, Pairs]:
        """Of the pairs those that are not near at the ``other`` tick; those that are, and beside each its places there.

        Cost: a look at each key of both, and a sort of the pairs.
        """
        places = pc.index_in(self.objects.rows["key"], value_set=other.objects.rows["key"].combine_chunks())
        there = pc.fill_null(places, -1).to_numpy().astype(np.int64)[self.pairs]
        width = len(other.objects.keys) + 1
        known = other.pairs[:, 0] * width + other.pairs[:, 1]
        codes = np.where((there >= 0).all(axis=1), there[:, 0] * width + there[:, 1], -1)
        is_known = np.isin(codes, known)
        return self.pairs[~is_known], self.pairs[is_known], there[is_known]

    def carried(self, pair: npt.NDArray[np.int64]) -> Carried:
        """What the objects of a pair carry."""
        first, second = pair.tolist()
        return self.objects.carried[first], self.objects.carried[second]

    def event(
        self, query: NearQuery, kind: Kind, time: str, pair: npt.NDArray[np.int64], other: Carried | None = None
    ) -> PairEvent:
        """What is told of a pair, as it is at this tick, at a ``time``: that of this tick or of the next."""
        first, second = pair.tolist()
        a, b = self._told(first), self._told(second)
        metres = round(distance_sphere_m(a.x, a.y, b.x, b.y), 3)
        key = f"[{a.key},{b.key}]"
        value = (
            f'{{"query":"{query.id}","event":"{kind}","time":"{time}","distance_m":{metres!r},"keys":{key},'
            f'"times":["{a.time}","{b.time}"],"positions":[[{a.x!r},{a.y!r}],[{b.x!r},{b.y!r}]],'
            f'"sources":["{a.source}","{b.source}"]}}'
        )
        identity = f"{query.id}:{kind}:{time}:{key}"
        own = None if query.condition is None else self.carried(pair)
        return PairEvent(query.topic, key, value, identity, query.id, a.source, kind, query.condition, own, other)

    @cached_property
    def _known(self) -> dict[int, _Told]:
        return {}

    def _told(self, place: int) -> _Told:
        found = self._known.get(place)
        if found is None:
            objects = self.objects
            partition, offset = objects.places[place]
            found = self._known[place] = _Told(
                encode_basestring(objects.keys[place]),
                time_text(int(objects.time_us[place])),
                float(objects.x[place]),
                float(objects.y[place]),
                f"{self.source_topic}-{partition}-{offset}",
            )
        return found


@dataclass(frozen=True, slots=True)
class _Told:
    """An object as it is told: its key as JSON, the time and place of its observation, and its record, whose topic has
    no character that JSON would write otherwise.
    """

    key: str
    time: str
    x: float
    y: float
    source: str


def pairs_to_bytes(pairs: Pairs) -> bytes:
    """For :func:`pairs_of_bytes`: places fit into 32 bits, as numbers of objects do."""
    return pairs.astype("<i4").tobytes()


def pairs_of_bytes(content: bytes) -> Pairs:
    """The pairs that said so."""
    return np.frombuffer(content, dtype="<i4").reshape(-1, 2).astype(np.int64)


def table_to_bytes(table: pa.Table) -> bytes:
    """For :func:`table_of_bytes`."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def table_of_bytes(content: bytes) -> pa.Table:
    """The table that said so."""
    return pa.ipc.open_stream(content).read_all()
