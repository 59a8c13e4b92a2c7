"""The engine as a library: standing predicates over Arrow batches, without Spark."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from asc.compiler import change_plan, compile_plan
from asc.errors import PlanError, PredicateError
from asc.executor import match
from asc.plan import CompileOptions, Plan, Query
from asc.predicate import Limits, normalise
from asc.schema import Schema


class Matcher:
    """A changing set of standing predicates, matched against record batches.

    Represents a mapping id -> predicate over one schema. Invariant: ``plan`` is compiled from exactly that mapping.
    Not safe to change from several threads at once; a plan, being immutable, may be matched from any number of them.

    >>> matcher = Matcher(Schema.from_ddl("delay INT, city STRING"))
    >>> matcher.add_many([("late", "delay > 30"), ("oslo", "city = 'Oslo' OR delay IS NULL")])
    >>> batch = pa.record_batch({"delay": pa.array([45, 10, None], pa.int32()), "city": ["Oslo", "Bergen", "Bodø"]})
    >>> matcher.match(batch).to_pylist()
    [{'row': 0, 'query': 'late'}, {'row': 0, 'query': 'oslo'}, {'row': 2, 'query': 'oslo'}]
    """

    def __init__(
        self,
        schema: Schema,
        *,
        options: CompileOptions | None = None,
        limits: Limits | None = None,
        time_zone: str = "UTC",
    ) -> None:
        """``schema``: of the batches to come. ``options``: how plans are laid out; ``limits``: of predicates.
        ``time_zone``: the session time zone that timestamps in predicates are read in.
        """
        self.schema = schema
        self._limits = limits or Limits()
        self._time_zone = time_zone
        self._plan = compile_plan((), options)

    @property
    def plan(self) -> Plan:
        """The compiled set as it stands."""
        return self._plan

    def __len__(self) -> int:
        return len(self._plan)

    def __contains__(self, query_id: str) -> bool:
        return query_id in self._plan

    def add(self, query_id: str, where: str) -> None:
        """Register a predicate, in place of the one of the same id if there is one.

        Raises PredicateError, and changes nothing, for a predicate that is refused or that only Spark can evaluate.
        """
        self.add_many([(query_id, where)])

    def add_many(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Register (id, predicate) pairs in one step: all, or none when one is refused or given twice."""
        self._plan = change_plan(self._plan, add=[self._query(query_id, where) for query_id, where in pairs])

    def remove(self, query_id: str) -> None:
        """Remove a predicate. Raises PlanError for an unknown id."""
        self._plan = change_plan(self._plan, remove=[query_id])

    def match(self, batch: pa.RecordBatch | pa.Table) -> pa.Table:
        """The (row, query) pairs that match: a table of ``row`` int32 and ``query`` string, sorted by row, then id.

        The batch may hold more columns than the schema. Raises PlanError for a missing column or one of another type.
        """
        columns = [_column(batch, attribute.path or (), attribute.sql) for attribute in self._plan.p_attributes]
        matches = match(self._plan, columns, batch.num_rows)
        queries = self._plan.query_ids.take(pa.array(matches.queries))
        return pa.table({"row": pa.array(matches.rows), "query": queries})

    def _query(self, query_id: str, where: str) -> Query:
        predicate = normalise(where, self.schema, limits=self._limits, time_zone=self._time_zone)
        for attribute in predicate.p_attributes:
            if attribute.path is None:
                raise PredicateError(
                    f"query {query_id!r} needs Spark to compute",
                    attribute.sql,
                    "use broker.match, or compare plain columns",
                )
        return Query(query_id, predicate)


def _column(batch: pa.RecordBatch | pa.Table, path: tuple[str, ...], name: str) -> pa.ChunkedArray:
    """A column of a batch; a field of a struct is NULL where the struct is."""
    if path[0] not in batch.schema.names:
        near = [column for column in batch.schema.names if column.casefold() == path[0].casefold()]
        if len(near) != 1:
            raise PlanError("missing column", name, f"the batch has {', '.join(batch.schema.names[:8])}")
        path = (near[0], *path[1:])
    column = batch.column(path[0])
    for part in path[1:]:
        column = pc.struct_field(column, [part])
    return column
