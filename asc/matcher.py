"""The engine as a library: standing predicates over Arrow batches, without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from asc.column_casts import column_at, fitted, position_of
from asc.errors import PlanError, PredicateError
from asc.evaluation.executor import Matches, match
from asc.interchange import Incoming, Part, is_table, predicates_schema
from asc.keys.attribute import PAttribute
from asc.layer_file import layers_of
from asc.plan.compiler import change_plan, compile_plan
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate import Limits, normalise
from asc.query_id import checked_id, checked_queries
from asc.result_tables import By, count_table, filtered, ids_by_row, result_table
from asc.schema import Schema
from asc.spark_types import folded
from asc.spatial.layer import Layer

QUERIES_COLUMN = "queries"
"""The name of the column that :meth:`Matcher.filter` adds: the ids of the queries that accept the row."""


class Matcher:
    """A changing set of standing predicates, matched against tables of pyarrow, Polars, pandas, DuckDB, or any library
    that exports Arrow.

    A matcher represents a mapping of ids to predicates over one schema. Invariant: ``plan`` is compiled from exactly
    that mapping. Several threads must not change a matcher at the same time. But any number of threads may match tables
    at the same time, because a plan is immutable.

    >>> matcher = Matcher("delay INT, city STRING", {"late": "delay > 30", "oslo": "city = 'Oslo' OR delay IS NULL"})
    >>> table = pa.table({"delay": [45, 10, None], "city": ["Oslo", "Bergen", "Bodø"]})
    >>> matcher.match(table).to_pylist()
    [{'row': 0, 'query': 'late'}, {'row': 0, 'query': 'oslo'}, {'row': 2, 'query': 'oslo'}]
    """

    def __init__(
        self,
        schema: object,
        queries: Mapping[str, str] | None = None,
        *,
        options: CompileOptions | None = None,
        limits: Limits | None = None,
        time_zone: str = "UTC",
        crs: str | None = None,
        layers: Mapping[str, Layer | str | Path] | None = None,
    ) -> None:
        """Compile the first queries over a schema. Raise SchemaError if the schema is invalid.

        ``schema``: the schema of the tables, as :meth:`Schema.of` accepts it; or one of these tables, or its Arrow
        schema (:func:`asc.interchange.predicates_schema`). ``queries``: a mapping of ids to predicates; it raises the
        errors of :meth:`add`. ``options``: the limits by which the compiler lays out plans. ``limits``: the limits of
        predicates. ``time_zone``: the session time zone of timestamps in predicates. ``crs``: the crs of positions,
        ``wgs84`` or ``planar``; by default the crs of the schema. ``layers``: the layers of ``shape('layer', 'id')`` by
        name, as :func:`asc.read_layer` returns them, or files of shapes with ids.
        """
        found = _schema_of(schema)
        self.schema = found if crs is None else found.with_crs(crs)
        if layers is not None:
            self.schema = self.schema.with_layers(layers_of(layers, self.schema.crs))
        self._limits = limits or Limits()
        self._time_zone = time_zone
        self._plan = compile_plan((), options)
        if queries is not None:
            self.add_many(checked_queries(queries, PlanError).items())

    @property
    def plan(self) -> Plan:
        """The plan of the present set of predicates."""
        return self._plan

    def __len__(self) -> int:
        return len(self._plan)

    def __contains__(self, query_id: str) -> bool:
        return query_id in self._plan

    def add(self, query_id: str, where: str) -> None:
        """Register a predicate. It replaces the predicate with the same id, if there is one.

        Raise PredicateError, and change nothing, if the predicate is refused or only Spark can evaluate it.
        """
        self.add_many([(query_id, where)])

    def add_many(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Register (id, predicate) pairs in one step: all of them, or none if one is refused or an id occurs twice."""
        self._plan = change_plan(self._plan, add=[self._query(query_id, where) for query_id, where in _pairs(pairs)])

    def remove(self, query_id: str) -> None:
        """Remove a predicate. Raise PlanError for an unknown id."""
        self._plan = change_plan(self._plan, remove=[query_id])

    def match(self, table: object, *, by: By = "pair") -> pa.Table:
        """Return the matches in a table, as an Arrow table.

        ``by="pair"``: ``row`` int32 and ``query`` string, one row for each matching pair, sorted by row, then id.
        ``by="row"``: ``queries`` list<string>, one list for each row of the table, in the table's order; empty if no
        query accepts the row. ``by="query"``: ``query``, ``count`` and ``rows`` list, one row for every query, sorted
        by id.

        The table is a ``pyarrow`` Table, RecordBatch or RecordBatchReader, or any object with ``__arrow_c_stream__`` (a
        DataFrame of Polars or pandas, a relation of DuckDB). It may have more columns than the schema. A column may
        have another type than in the schema if the schema's type holds every value exactly (int64 for INT, double for
        FLOAT, ...). Raise PlanError if the argument is no table, a column is missing, a column's type is incompatible,
        or a value does not fit.
        """
        return result_table(self._plan, (matches for _, matches in self._matched_parts(table)), by)

    def count(self, table: object) -> pa.Table:
        """Count the rows of a table that each query accepts. The result has the columns ``query`` and ``count`` int64,
        and one row for every query, sorted by id.

        If the table is a stream of batches, only one part of it is in memory at a time. Arguments and errors are those
        of :meth:`match`.
        """
        return count_table(self._plan, (matches for _, matches in self._matched_parts(table)))

    def filter(self, table: object) -> pa.Table:
        """Return the rows of a table that at least one query accepts, as an Arrow table. ``broker.match`` does the same
        for a DataFrame of Spark.

        The columns are unchanged, except that Arrow's view types become the large types. The added column ``queries``
        list<string> has the sorted ids of the queries that accept the row.

        Arguments and errors are those of :meth:`match`. Raise PlanError also if the table already has a column
        ``queries``.
        """
        kept: list[pa.Table] = []
        plan, incoming = self._plan, Incoming.of(table)
        if any(folded(name) == QUERIES_COLUMN for name in incoming.schema.names):
            raise PlanError("column", QUERIES_COLUMN, "is a name that the result needs: rename it before matching")
        for part, matches in _matched(plan, incoming):
            accepted = np.zeros(matches.tuples, dtype=np.bool_)
            accepted[matches.rows] = True
            mask = pa.array(accepted)
            ids = ids_by_row(plan, matches).filter(mask)
            kept.append(filtered(part, mask).append_column(QUERIES_COLUMN, ids))
        return pa.concat_tables(kept)

    def _matched_parts(self, table: object) -> Iterator[tuple[Part, Matches]]:
        """Yield the consecutive parts of a table, each with its matches (the accepted pairs of row and query)."""
        return _matched(self._plan, Incoming.of(table))

    def _query(self, query_id: str, where: str) -> Query:
        checked_id(query_id, PlanError)
        if not isinstance(where, str):
            remedy = "give Spark SQL as text"
            raise PredicateError(f"query {query_id!r}: predicate of type", type(where).__name__, remedy)
        predicate = normalise(where, self.schema, limits=self._limits, time_zone=self._time_zone)
        for attribute in predicate.p_attributes:
            if attribute.is_computed:
                raise PredicateError(
                    f"query {query_id!r} needs Spark to compute",
                    attribute.as_written,
                    "use broker.match, or compare plain columns",
                )
        return Query(query_id, predicate)


def _pairs(pairs: object) -> Iterator[tuple[Any, Any]]:
    """Yield the pairs of an iterable. Raise PlanError for any other value, and also for a mapping or a text."""
    remedy = "give (id, predicate) pairs, as queries.items()"
    if isinstance(pairs, (str, Mapping)) or not isinstance(pairs, Iterable):
        raise PlanError("queries of type", type(pairs).__name__, remedy)
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise PlanError("pair of type", type(pair).__name__, remedy)
        yield pair[0], pair[1]


def _schema_of(value: object) -> Schema:
    """Return the schema for the argument ``schema`` of :class:`Matcher`, which is a schema in any accepted form, or a
    table.
    """
    if isinstance(value, pa.Schema):
        return predicates_schema(value)
    if is_table(value):
        return predicates_schema(Incoming.of(value).schema)
    return Schema.of(value)


def _matched(plan: Plan, incoming: Incoming) -> Iterator[tuple[Part, Matches]]:
    before = 0
    for part in incoming.parts:
        columns = [_values(part, attribute, before) for attribute in plan.p_attributes]
        yield part, match(plan, columns, part.num_rows)
        before += part.num_rows


def _values(part: Part, attribute: PAttribute, before: int) -> pa.Array | pa.ChunkedArray:
    """Return the values of a p-attribute in a part of a table, whose rows are numbered from ``before`` on."""
    if not attribute.parts:
        return fitted(attribute, column_at(part, attribute.path or (), attribute.sql), before)
    return position_of(attribute, [_values(part, half, before) for half in attribute.parts])
