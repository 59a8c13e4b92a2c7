"""The engine as a library: standing predicates over Arrow batches, without Spark."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from asc.errors import PlanError, PredicateError
from asc.evaluation.executor import match
from asc.fitting import fitted
from asc.plan.compiler import change_plan, compile_plan
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate import Limits, normalise
from asc.schema import Schema, StructType
from asc.spark_types import folded


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
        schema: Schema | pa.Schema | StructType | str,
        *,
        options: CompileOptions | None = None,
        limits: Limits | None = None,
        time_zone: str = "UTC",
    ) -> None:
        """``schema``: of the batches to come, as :meth:`Schema.of` takes it; SchemaError for what is none. ``options``:
        how plans are laid out; ``limits``: of predicates. ``time_zone``: the session time zone that timestamps in
        predicates are read in.
        """
        self.schema = Schema.of(schema)
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

        The batch may hold more columns than the schema, and a column of another type whose every value its own type
        holds exactly (int64 for INT, double for FLOAT, ...). Raises PlanError for a missing column, for one of a type
        that does not go with its own, and for a value that does not fit.
        """
        if not isinstance(batch, (pa.RecordBatch, pa.Table)):
            raise PlanError("batch", type(batch).__name__, "give a pyarrow.RecordBatch or pyarrow.Table")
        columns = [fitted(a, _column(batch, a.path or (), a.sql)) for a in self._plan.p_attributes]
        matches = match(self._plan, columns, batch.num_rows)
        queries = self._plan.query_ids.take(pa.array(matches.queries))
        return pa.table({"row": pa.array(matches.rows), "query": queries})

    def _query(self, query_id: str, where: str) -> Query:
        if not isinstance(query_id, str) or not query_id:
            raise PlanError("query id", query_id, "it must be a string of at least one character")
        if any("\ud800" <= character <= "\udfff" for character in query_id):
            raise PlanError("query id", query_id, "half a surrogate pair cannot be stored")
        if not isinstance(where, str):
            raise PredicateError(f"query {query_id!r} has the predicate", where, "it must be a string")
        predicate = normalise(where, self.schema, limits=self._limits, time_zone=self._time_zone)
        for attribute in predicate.p_attributes:
            if attribute.is_computed:
                raise PredicateError(
                    f"query {query_id!r} needs Spark to compute",
                    attribute.read.sql,
                    "use broker.match, or compare plain columns",
                )
        return Query(query_id, predicate)


def _column(batch: pa.RecordBatch | pa.Table, path: tuple[str, ...], name: str) -> pa.ChunkedArray:
    """A column of a batch; a field of a struct is NULL where the struct is.

    Names are the batch's own spelling where they are the same, else any that Spark takes for the same.
    """
    column = batch.column(_place(batch.schema.names, path[0], name))
    for part in path[1:]:
        if pa.types.is_null(column.type):
            return column
        if not pa.types.is_struct(column.type):
            raise PlanError("column", name, f"the batch has {column.type} where a struct must be")
        fields = [column.type.field(i).name for i in range(column.type.num_fields)]
        column = pc.struct_field(column, [_place(fields, part, name)])
    return column


def _place(names: list[str], wanted: str, name: str) -> int:
    """Which of the names is the wanted one."""
    found = [i for i, own in enumerate(names) if own == wanted]
    found = found or [i for i, own in enumerate(names) if folded(own) == folded(wanted)]
    if len(found) > 1:
        raise PlanError("column", name, "the batch has several of that name")
    if not found:
        raise PlanError("missing column", name, f"the batch has {', '.join(names[:8])}")
    return found[0]
