"""The delivery ledger of a broker. It compares the records that arrived with the records that each query must receive,
and with the records that the query may receive.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Offsets = Mapping[int, int]
Oracle = Callable[[str], npt.NDArray[np.bool_]]
"""A function that returns for each published record, in order, whether a predicate accepts it."""


@dataclass(frozen=True, slots=True)
class Published:
    """A record of the source topic."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Arrived:
    """A record of a destination topic. ``source``: the identity of the source record that it copies."""

    topic: str
    source: str
    queries: tuple[str, ...]
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


@dataclass(slots=True)
class Life:
    """The time between two successive changes of a query, as offsets by source partition. The query *must* receive the
    records that it accepts from ``must_from`` to before ``must_until``. It *may* receive such records from ``may_from``
    to before ``may_until``. An end of None means that the time has not ended. A partition without an entry did not
    exist yet, so its offset is 0.

    Invariant: the range of "must" lies within the range of "may". The two ranges differ if the API did not answer a
    change, because the first batch with the change is then unknown.
    """

    query_id: str
    where: str
    topic: str
    must_from: Offsets
    may_from: Offsets
    must_until: Offsets | None = None
    may_until: Offsets | None = None


@dataclass(frozen=True, slots=True)
class DeliveryAudit:
    """The faults of the deliveries, one per line, and the number of repeated copies.

    ``sound``: whether there are no faults.
    """

    missing: list[str] = field(default_factory=list)
    unwanted: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    disordered: list[str] = field(default_factory=list)
    deliveries: int = 0
    pairs: int = 0
    duplicates: int = 0

    @property
    def sound(self) -> bool:
        return not (self.missing or self.unwanted or self.changed or self.disordered)

    def __str__(self) -> str:
        wrong = [
            f"{len(lines)} {name} (first: {lines[0]})"
            for name, lines in (
                ("missing", self.missing),
                ("unwanted", self.unwanted),
                ("changed", self.changed),
                ("out of order", self.disordered),
            )
            if lines
        ]
        counted = f"{self.pairs:,} records of queries, {self.deliveries:,} delivered, {self.duplicates:,} of them again"
        return f"{counted}; {'; '.join(wrong) or 'nothing lost, unwanted or changed'}"


class DeliveryLedger:
    """All records of a source topic, and all lives of all queries. ``audit`` compares the arrived records with both.

    The audit checks this guarantee of the broker: every query receives exactly the records that it accepts from its
    first offset to its last. Each topic has one copy of a record for all queries of the topic, with unchanged key,
    value and headers. After a fault an identical copy may arrive again. Lives of the same id in ``lives`` do not
    overlap.

    Memory: a bit for each record and life, and an entry for each pair of a record and a query that must receive the
    record.
    """

    def __init__(self, source: str, published: Iterable[Published], lives: Iterable[Life], oracle: Oracle) -> None:
        self._source = source
        self._published = list(published)
        self._partitions = np.array([record.partition for record in self._published], np.int64)
        self._offsets = np.array([record.offset for record in self._published], np.int64)
        self._rows = {self._identity(record): row for row, record in enumerate(self._published)}
        self._must: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        self._may: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        accepted: dict[str, npt.NDArray[np.bool_]] = {}
        for life in lives:
            if life.where not in accepted:
                accepted[life.where] = oracle(life.where)
            own = accepted[life.where]
            for bounds, kept in (
                ((life.must_from, life.must_until), self._must),
                ((life.may_from, life.may_until), self._may),
            ):
                for row in np.flatnonzero(own & self._within(*bounds)).tolist():
                    kept[life.topic][row].add(life.query_id)

    def add_dead_letters(self, topic: str, undecodable: Iterable[int]) -> None:
        """Require that the dead-letter ``topic`` receives each of the ``undecodable`` records once, without the id of a
        query. ``undecodable``: indices of published records.
        """
        for row in undecodable:
            self._must[topic][row] = set()
            self._may[topic][row] = set()

    def outstanding(self, arrived: Iterable[Arrived]) -> int:
        """Count the required copies that have not arrived."""
        found: dict[str, set[int]] = defaultdict(set)
        for record in arrived:
            found[record.topic].add(self._rows.get(record.source, -1))
        return sum(len(rows.keys() - found[topic]) for topic, rows in self._must.items())

    def audit(self, arrived: Iterable[Arrived], calm_until: Offsets | None = None) -> DeliveryAudit:
        """Compare the arrived records with the ledger. ``arrived``: the records of each topic, in the order of the
        topic. ``calm_until``: the offsets before which all records were processed before the first fault. No copy of
        such a record may arrive twice, and copies with one key must be in order.
        """
        missing, unwanted, changed, disordered = [], [], [], []
        copies: Counter[tuple[str, int]] = Counter()
        first: dict[tuple[str, int], Arrived] = {}
        last: dict[tuple[str, bytes | None, int], int] = {}
        for record in arrived:
            row = self._rows.get(record.source)
            may = None if row is None else self._may.get(record.topic, {}).get(row)
            if row is None or may is None:
                unwanted.append(f"{record.source} in {record.topic} for {', '.join(record.queries) or 'nobody'}")
                continue
            copies[record.topic, row] += 1
            same = first.setdefault((record.topic, row), record)
            original = self._published[row]
            if (record.key, record.value, record.headers) != (original.key, original.value, original.headers):
                changed.append(f"{record.source} in {record.topic}: key, value or headers")
            if record != same or list(record.queries) != sorted(set(record.queries)):
                changed.append(f"{record.source} in {record.topic}: queries {record.queries}, first {same.queries}")
            unwanted += [f"{record.source} in {record.topic} for {name}" for name in set(record.queries) - may]
            lacking = self._must[record.topic].get(row, set()) - set(record.queries)
            missing += [f"{record.source} in {record.topic} for {name}" for name in lacking]
            place = (record.topic, record.key, original.partition)
            is_calm = calm_until is None or original.offset < calm_until.get(original.partition, 0)
            if is_calm and original.offset <= last.get(place, -1):
                disordered.append(f"{record.source} in {record.topic} after {last[place]}")
            last[place] = original.offset
        for topic, rows in self._must.items():
            for row in rows.keys() - {found for name, found in copies if name == topic}:
                names = ", ".join(sorted(rows[row])) or "nobody"
                missing.append(f"{self._identity(self._published[row])} in {topic} for {names}")
        return DeliveryAudit(
            missing,
            unwanted,
            changed,
            disordered,
            deliveries=copies.total(),
            pairs=sum(len(names) for rows in self._must.values() for names in rows.values()),
            duplicates=copies.total() - len(copies),
        )

    def _within(self, first: Offsets, end: Offsets | None) -> npt.NDArray[np.bool_]:
        inside = np.ones(len(self._published), np.bool_)
        for partition, offset in first.items():
            inside &= (self._partitions != partition) | (self._offsets >= offset)
        if end is not None:
            ends = np.zeros(1 + max(self._partitions, default=0), np.int64)
            for partition, offset in end.items():
                ends[partition : partition + 1] = offset
            inside &= self._offsets < ends[self._partitions]
        return inside

    def _identity(self, record: Published) -> str:
        return f"{self._source}-{record.partition}-{record.offset}"


def duckdb_oracle(published: list[Published], columns: Mapping[str, str]) -> tuple[Oracle, list[int]]:
    """Return a function that evaluates predicates over JSON records with DuckDB, and the indices of the records that
    are not JSON. ``columns``: the DuckDB type of each column.
    """
    import duckdb
    import pyarrow as pa

    undecodable: list[int] = []
    rows: list[list[object]] = []
    for row, record in enumerate(published):
        try:
            accepted_rows = json.loads(record.value or b"")
        except ValueError:
            undecodable.append(row)
        else:
            rows.append([row, *(accepted_rows.get(name) for name in columns)])
    # A division by zero is NULL, as it is to Spark.
    connection = duckdb.connect(config={"ieee_floating_point_ops": False})
    declared = ", ".join(f"{name} {kind}" for name, kind in columns.items())
    connection.execute(f"CREATE TABLE records (_row BIGINT, {declared})")
    names = ["_row", *columns]
    decoded = pa.table({name: [row[place] for row in rows] for place, name in enumerate(names)})
    connection.register("decoded", decoded)
    connection.execute("INSERT INTO records SELECT * FROM decoded")

    def accepted(where: str) -> npt.NDArray[np.bool_]:
        mask = np.zeros(len(published), np.bool_)
        accepted_rows = connection.execute(f"SELECT _row FROM records WHERE {where}").arrow().read_all()["_row"]
        mask[accepted_rows.to_numpy()] = True
        return mask

    return accepted, undecodable
