"""One tick of a near query: the positions of objects, and the pairs of objects that are near each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat
from json.encoder import encode_basestring
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from asc.operators.feed import Kind
from asc.operators.near.near_query import NearQuery
from asc.operators.near.positions import Snapshot
from asc.operators.near.proximity import millimetres_m

Pairs = npt.NDArray[np.int64]
"""Pairs of objects, int64[pairs, 2]. A pair has the indices of both objects in a snapshot, the smaller index first. The
pairs are in ascending order.
"""

Carried = tuple[str | None, str | None]
"""The carried values (the values that the query's condition reads) of the two objects of a pair."""


class PairEvent(NamedTuple):
    """An output of a near query for one pair.

    The output goes to ``topic``, with ``key`` (a JSON array of the two objects' keys, the smaller first), ``value``
    (JSON) and ``identity``. These are the same whenever the output is written again. ``condition``: the condition of
    the query, which the broker evaluates; None if there is none. With a condition, the output is written only if the
    condition holds for ``own``, the values that both objects carried at this tick. For the output ``apart``, ``own``
    has the values of the earlier of the two compared ticks. ``other``: the values at the other of these ticks, if the
    objects are near at both; for these values the condition must not hold.
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
    """The objects at a tick, the pairs of objects that are near each other, and the topic of their records.

    Cost: some 6 us for each pair that is written, with its objects.
    """

    objects: Snapshot
    pairs: Pairs
    source_topic: str

    def of(self, pairs: Pairs) -> PairTick:
        """Return a copy of the tick with only ``pairs`` and the objects of these pairs."""
        places = np.flatnonzero(np.bincount(pairs.ravel(), minlength=len(self.objects.x)))
        rows = self.objects.rows.take(pa.array(places)).combine_chunks()
        return PairTick(Snapshot(rows), np.searchsorted(places, pairs), self.source_topic)

    def without(self, other: PairTick) -> tuple[Pairs, Pairs, Pairs]:
        """Return the pairs that are not near at the tick ``other``, and the pairs that are near at both ticks. Return
        the pairs of both ticks a second time, with the indices that their objects have at the tick ``other``.

        Cost: a look-up of each key of both ticks, and a sort of the pairs.
        """
        places = pc.index_in(self.objects.rows["key"], value_set=other.objects.rows["key"].combine_chunks())
        there = pc.fill_null(places, -1).to_numpy().astype(np.int64)[self.pairs]
        width = len(other.objects.x) + 1
        known = other.pairs[:, 0] * width + other.pairs[:, 1]
        codes = np.where((there >= 0).all(axis=1), there[:, 0] * width + there[:, 1], -1)
        is_known = np.isin(codes, known)
        return self.pairs[~is_known], self.pairs[is_known], there[is_known]

    def carried(self, first: int, second: int) -> Carried:
        """Return the carried values of two objects. ``first``, ``second``: the indices of the objects."""
        return self.objects.carried[first], self.objects.carried[second]

    def events(
        self, query: NearQuery, kind: Kind, time: str, others: Iterable[Carried] | None = None
    ) -> Iterator[PairEvent]:
        """Yield an output for each pair, with the data of this tick.

        ``kind``: the type of the outputs. ``time``: the time of the tick at which the pairs are output: this tick, or
        for the output ``apart`` a later one. ``others``: for each pair, the values that its objects carried at the
        other of the two compared ticks; None if there are none.
        """
        keys, times, positions, sources = self._texts
        metres = millimetres_m(self.objects.x, self.objects.y, self.pairs)
        begins, both = f'{{"query":"{query.id}","event":"{kind}","time":"{time}","distance_m":', self.pairs.tolist()
        carried = repeat(None, len(both)) if others is None else others
        for (first, second), far_m, other in zip(both, metres, carried, strict=True):
            key = f"[{keys[first]},{keys[second]}]"
            value = (
                f'{begins}{far_m!r},"keys":{key},"times":["{times[first]}Z","{times[second]}Z"],'
                f'"positions":[{positions[first]},{positions[second]}],'
                f'"sources":["{sources[first]}","{sources[second]}"]}}'
            )
            identity = f"{query.id}:{kind}:{time}:{key}"
            own = None if query.condition is None else self.carried(first, second)
            yield PairEvent(
                query.topic, key, value, identity, query.id, sources[first], kind, query.condition, own, other
            )

    @property
    def _texts(self) -> tuple[list[str], list[str], list[str], list[str]]:
        """Return four lists with an entry for each object: the key as JSON, the time of the observation without the
        zone, the position, and the name of the record.

        The topic of a record has no character that JSON would escape.
        """
        objects = self.objects
        times: list[str] = np.datetime_as_string(objects.time_us.astype("datetime64[us]")).tolist()
        return (
            list(map(encode_basestring, objects.keys)),
            times,
            [f"[{x!r},{y!r}]" for x, y in zip(objects.x.tolist(), objects.y.tolist(), strict=True)],
            [f"{self.source_topic}-{partition}-{offset}" for partition, offset in objects.places],
        )


def pairs_to_bytes(pairs: Pairs) -> bytes:
    """Return pairs as bytes, for :func:`pairs_of_bytes`. The indices of objects fit into 32 bits."""
    return pairs.astype("<i4").tobytes()


def pairs_of_bytes(content: bytes) -> Pairs:
    """Return the pairs that :func:`pairs_to_bytes` wrote."""
    return np.frombuffer(content, dtype="<i4").reshape(-1, 2).astype(np.int64)


def table_to_bytes(table: pa.Table) -> bytes:
    """Return a table as bytes, for :func:`table_of_bytes`."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def table_of_bytes(content: bytes) -> pa.Table:
    """Return the table that :func:`table_to_bytes` wrote."""
    return pa.ipc.open_stream(content).read_all()
