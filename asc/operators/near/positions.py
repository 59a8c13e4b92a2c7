"""The last observation of each object in each interval between two ticks, from which the pairs at ticks are
computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

ROW_SCHEMA = pa.schema(
    [
        ("key", pa.string()),
        ("time_us", pa.int64()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("x", pa.float64()),
        ("y", pa.float64()),
        ("carried", pa.string()),
    ]
)
"""The columns of an observation of an object. ``carried``: the values that a condition reads, as text."""

_LOOSE_KEPT = 50_000
"""The number by which the unfolded rows of :class:`Positions` may exceed the folded rows before all rows are folded."""

_Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The last observation of each object at a tick. ``rows``: ROW_SCHEMA, one row for each object, in the order of
    keys.
    """

    rows: pa.Table

    @cached_property
    def keys(self) -> list[str]:
        """Return the keys of the objects, in ascending order of code points."""
        return self._listed("key")

    @cached_property
    def carried(self) -> list[str | None]:
        """Return the carried values of each object, for conditions."""
        return self._listed("carried")

    @cached_property
    def x(self) -> npt.NDArray[np.float64]:
        """Return the longitude of each object, float64[objects]."""
        return self._array("x")

    @cached_property
    def y(self) -> npt.NDArray[np.float64]:
        """Return the latitude of each object, float64[objects]."""
        return self._array("y")

    @cached_property
    def time_us(self) -> npt.NDArray[np.int64]:
        """Return the time of each observation in microseconds since 1970, int64[objects]."""
        return self._array("time_us")

    @property
    def places(self) -> Iterator[tuple[int, int]]:
        """Return the partition and the offset of the record of each observation."""
        return zip(self._listed("partition"), self._listed("offset"), strict=True)

    def _listed(self, name: str) -> list[Any]:
        found: list[Any] = self.rows[name].to_pylist()
        return found

    def _array(self, name: str) -> npt.NDArray[Any]:
        found: npt.NDArray[Any] = self.rows[name].to_numpy()
        return found


class Positions:
    """The last observation of each object in each interval between two ticks. Observations are ordered by time, then by
    offset, then by partition.

    To fold is to keep only the last row of each object and interval. Invariant: the rows held are a function of the
    observations added and the ticks passed, in order, however these were split into batches. The first ``folded`` rows
    are folded: each object has at most one row for each interval. The rows after them are as they arrived, and are
    folded before any of them is excluded or read.

    Cost: an Arrow row of some 70 bytes for each observation held. Folding sorts the rows, at some .3 us per row. It
    happens at a tick, at capacity, and when the unfolded rows exceed the folded rows by more than ``_LOOSE_KEPT``.
    """

    def __init__(self, every_us: int, rows: pa.Table | None = None, folded: int = 0) -> None:
        self._every_us = every_us
        self._rows = ROW_SCHEMA.empty_table() if rows is None else rows
        self._folded = folded

    @property
    def rows(self) -> pa.Table:
        """Return the rows held, with the columns of ROW_SCHEMA. In the first ``folded`` rows, each object has at most
        one row for each interval.
        """
        return self._rows

    @property
    def folded(self) -> int:
        """Return how many of the first rows of ``rows`` are folded: each object has at most one of them for each
        interval.
        """
        return self._folded

    @property
    def count(self) -> int:
        """Return the number of rows held."""
        return int(self._rows.num_rows)

    @property
    def first_tick_us(self) -> int | None:
        """Return the first tick at or after the earliest observation held. Return None if there is no observation."""
        first = pc.min(self._rows["time_us"]).as_py()
        return None if first is None else -(-first // self._every_us) * self._every_us

    @property
    def is_of_one(self) -> bool:
        """Return whether there are rows, and all belong to one object."""
        keys = self._rows["key"]
        return self.count > 0 and bool(pc.all(pc.equal(keys, keys[0])).as_py())

    def add(self, rows: pa.Table, capacity: int) -> int:
        """Add observations in order. Return the number of observations that were added; the others are excluded.

        ``capacity``: the most observations held. At capacity, an observation is excluded if no observation of the same
        object and interval is held.
        """
        added = rows.num_rows
        if self.count + added > capacity:
            self._fold()
            rows = self._within_capacity(rows, capacity)
        self._rows = pa.concat_tables([self._rows, rows]).combine_chunks()
        if self.count - self._folded > self._folded + _LOOSE_KEPT:
            self._fold()
        return int(rows.num_rows)

    def passed(self, at_us: int, window_us: int) -> Snapshot:
        """Return the objects at the final tick ``at_us``, each with its last observation in the ``window_us`` up to the
        tick.

        Observations that no later tick needs are forgotten.
        """
        self._fold()
        time_us = self._rows["time_us"].to_numpy()
        past = self._rows.filter(pa.array(time_us <= at_us))
        codes = _codes(past)
        order = _by_time(past, codes)
        past = past.take(pa.array(order[_lasts(codes[order])]))
        time_of = past["time_us"]
        later = self._rows.filter(pa.array(time_us > at_us))
        kept = past.filter(pc.greater(time_of, at_us + self._every_us - window_us))
        self._rows = pa.concat_tables([kept, later]).combine_chunks()
        self._folded = self.count
        there = past.filter(pc.greater(time_of, at_us - window_us))
        return Snapshot(there.take(pc.sort_indices(there["key"])).combine_chunks())

    def _fold(self) -> None:
        if self._folded == self.count:
            return
        groups = self._groups(self._rows)
        order = _by_time(self._rows, groups)
        self._rows = self._rows.take(pa.array(np.sort(order[_lasts(groups[order])]))).combine_chunks()
        self._folded = self.count

    def _within_capacity(self, rows: pa.Table, capacity: int) -> pa.Table:
        """Return the rows that can be added within ``capacity``. The caller ensures that the rows already held are
        folded.
        """
        held = self.count
        groups = self._groups(pa.concat_tables([self._rows, rows]))
        _, first, group = np.unique(groups, return_index=True, return_inverse=True)
        new = np.sort(first[first >= held])
        # New groups are added in the order of their first rows, up to the capacity.
        last = (
            new[capacity - held - 1]
            if 0 < capacity - held <= len(new)
            else (held - 1 if capacity <= held else len(groups))
        )
        return rows.filter(pa.array(first[group[held:]] <= last))

    def _groups(self, rows: pa.Table) -> _Ints:
        """Return a number for each row, which identifies the object and the interval between two ticks: rows that share
        both have the same number.
        """
        ticks, tick = np.unique(-(-rows["time_us"].to_numpy() // self._every_us), return_inverse=True)
        found: _Ints = _codes(rows) * len(ticks) + tick
        return found


def _codes(rows: pa.Table) -> _Ints:
    """Return a number for each row, which identifies the object: rows with the same key have the same number."""
    keys = rows["key"].combine_chunks()
    if isinstance(keys, pa.ChunkedArray):
        keys = pa.concat_arrays(keys.chunks) if keys.num_chunks else pa.array([], pa.string())
    found: _Ints = keys.dictionary_encode().indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return found


def _by_time(rows: pa.Table, groups: _Ints) -> _Ints:
    """Return the indices of the rows in the order of group, then time, offset and partition."""
    columns = (rows[name].to_numpy() for name in ("partition", "offset", "time_us"))
    return np.lexsort((*columns, groups))


def _lasts(groups: _Ints) -> npt.NDArray[np.bool_]:
    """Return a mask that is true for the last row of each group. ``groups``: the group of each row, sorted."""
    return np.append(groups[1:] != groups[:-1], values=True) if len(groups) else np.zeros(0, dtype=np.bool_)
