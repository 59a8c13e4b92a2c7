"""Points: the accepted records of a track, ordered by event time, then partition and offset of the source topic."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]

_COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        **{"time_us": "<i8", "partition": "<i4", "offset": "<i8", "values": "<f8"},
        **{"seen_us": "<i8", "arrival": "<i8", "code": "<i4"},
    }
)


class Come(NamedTuple):
    """A point that has arrived and is not yet merged into the ordered points. ``code``: the code of the selections that
    accept it (:class:`asc.operators.dbscan.selections.Selections`).
    """

    time_us: int
    partition: int
    offset: int
    values: Sequence[float]
    key: str | None
    code: int


class Place(NamedTuple):
    """The position of a point in the order: ascending time, then partition, then offset."""

    time_us: int
    partition: int
    offset: int


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Points as columns. ``values``: float64[points, attributes].

    ``seen_us``: the watermark when each point arrived. ``arrival``: the number of points of the track that arrived
    before the point. ``code``: the code of the selections that accept the point
    (:class:`asc.operators.dbscan.selections.Selections`). ``keys``: the text shown for each point; None if no point has
    a text.

    Invariant: strictly ascending order, except for the result of :meth:`arrived`. Memory: 40 bytes for each point, 8
    for each of its attributes, and its key.
    """

    time_us: Ints
    partition: Codes
    offset: Ints
    values: Floats
    seen_us: Ints
    arrival: Ints
    code: Codes
    keys: npt.NDArray[np.object_] | None = None

    @staticmethod
    def none(attributes: int) -> Points:
        """Return an empty set of points with a number of attributes."""
        return Points.arrived([], 0, attributes)

    @staticmethod
    def arrived(come: Sequence[Come], seen_us: int, attributes: int) -> Points:
        """Return the newly arrived points ``come`` in order of arrival, as input for :meth:`merged`. ``seen_us``: the
        watermark when the points arrived.
        """
        count = len(come)
        times_us, partitions, offsets, values, keys, codes = zip(*come, strict=True) if come else ((),) * 6
        return Points(
            np.array(times_us, dtype=np.int64),
            np.array(partitions, dtype=np.int32),
            np.array(offsets, dtype=np.int64),
            np.array(values, dtype=np.float64).reshape(count, attributes),
            np.full(count, seen_us, dtype=np.int64),
            np.zeros(count, dtype=np.int64),
            np.array(codes, dtype=np.int32),
            _texts(keys) if any(key is not None for key in keys) else None,
        )

    @property
    def count(self) -> int:
        """Return the number of points."""
        return len(self.time_us)

    @property
    def nbytes(self) -> int:
        """Return the size of the columns in bytes, without keys."""
        return sum(getattr(self, name).nbytes for name in _COLUMNS)

    def place(self, row: int) -> Place:
        """Return the position (time, partition and offset) of the point with the index ``row``."""
        return Place(int(self.time_us[row]), int(self.partition[row]), int(self.offset[row]))

    def before(self, time_us: int) -> int:
        """Return the number of points before a time."""
        return int(np.searchsorted(self.time_us, time_us))

    def until(self, place: Place) -> int:
        """Return the number of points at or before the position ``place``."""
        low, high = 0, self.count
        for column, value in ((self.time_us, place.time_us), (self.partition, place.partition)):
            same: npt.NDArray[Any] = column[low:high]
            low, high = (low + int(np.searchsorted(same, value, side)) for side in ("left", "right"))
        return low + int(np.searchsorted(self.offset[low:high], place.offset, "right"))

    def take(self, rows: Ints | Flags | slice) -> Points:
        """Return some of the points. ``rows``: indices, a slice, or a mask with one element for each point."""
        keys = None if self.keys is None else self.keys[rows]
        columns: dict[str, Any] = {name: getattr(self, name)[rows] for name in _COLUMNS}
        return Points(**columns, keys=keys)

    def with_code(self, code: Codes) -> Points:
        """Return the points with other codes of selections, one for each point."""
        own = (self.time_us, self.partition, self.offset, self.values, self.seen_us, self.arrival)
        return Points(*own, code, self.keys)

    def merged(self, come: Points, arrived: int) -> tuple[Points, Ints]:
        """Return the points merged with the newly arrived points ``come``. Ignore a newly arrived point if a point with
        its time, partition and offset is already there. Also return the indices in ``come`` of the points that were
        added.

        ``arrived``: the number of points of the track that arrived before. Cost: a sort of the points from the earliest
        new one on.
        """
        if not come.count:
            return self, np.zeros(0, dtype=np.int64)
        low = self.before(int(come.time_us.min()))
        later = self.take(slice(low, None))
        both = _joined(later, come)
        # The sort is stable: of points with equal places, the one that arrived first comes first.
        order = np.lexsort((both.offset, both.partition, both.time_us))
        columns = [column[order] for column in (both.time_us, both.partition, both.offset)]
        is_first = np.ones(len(order), dtype=np.bool_)
        is_first[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
        kept = order[is_first]
        new = np.sort(kept[kept >= later.count])
        both.arrival[new] = arrived + np.arange(len(new))
        return _joined(self.take(slice(0, low)), both.take(kept)), new - later.count

    def to_bytes(self) -> Iterator[bytes]:
        """Yield the points as byte strings, for :meth:`of_bytes`."""
        for name, kind in _COLUMNS.items():
            yield np.ascontiguousarray(getattr(self, name), dtype=kind).tobytes()
        keys: list[Any] = [] if self.keys is None else self.keys.tolist()
        shown = keys if any(key is not None for key in keys) else None
        # Escaping letters outside of ASCII would triple their bytes.
        yield json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode()

    @staticmethod
    def of_bytes(parts: Iterator[bytes], attributes: int) -> Points:
        """Return the points from the byte strings that :meth:`to_bytes` yielded."""
        own: dict[str, Any] = {name: np.frombuffer(next(parts), dtype=kind) for name, kind in _COLUMNS.items()}
        # The kernels are compiled for writable arrays only, and an array over bytes is read-only.
        own["values"] = own["values"].reshape(-1, attributes).copy()
        keys = json.loads(next(parts))
        return Points(**own, keys=None if keys is None else _texts(keys))


def _joined(one: Points, other: Points) -> Points:
    """Return the points of both arguments, concatenated."""
    columns: dict[str, Any] = {name: np.concatenate([getattr(one, name), getattr(other, name)]) for name in _COLUMNS}
    keys = None
    if one.keys is not None or other.keys is not None:
        keys = np.concatenate([_keys_of(one), _keys_of(other)])
    return Points(**columns, keys=keys)


def _keys_of(points: Points) -> npt.NDArray[np.object_]:
    return np.full(points.count, None, dtype=np.object_) if points.keys is None else points.keys


def _texts(keys: Sequence[str | None]) -> npt.NDArray[np.object_]:
    found = np.empty(len(keys), dtype=np.object_)
    found[:] = keys
    return found
