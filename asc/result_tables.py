"""Arrow tables of results: the matches of a set of predicates in a table, by pair, by row or by query."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from asc.errors import PlanError
from asc.evaluation.executor import Matches
from asc.interchange import Part
from asc.plan.plan import Plan

By = Literal["pair", "row", "query"]
"""The meaning of a row of a result table. ``pair``: a row of the matched table, and a query that accepts it. ``row``: a
row of the matched table. ``query``: a query.
"""

_MOST_ROWS = 2**31 - 1
_TEXT_BYTES = 2**31 - 1
"""The most bytes of text that one Arrow array of strings holds."""


def result_table(plan: Plan, parts: Iterable[Matches], by: By) -> pa.Table:
    """Return the matches in the consecutive parts of a table as one Arrow table, whose columns
    :meth:`asc.Matcher.match` describes.

    Raise PlanError for an unknown form, and for more rows than an int32 can number.
    """
    if by not in get_args(By):
        raise PlanError("shape of a result", by, "'pair', 'row' or 'query'")
    if by == "row":
        lists = [ids_by_row(plan, matches) for matches in parts]
        return pa.table({"queries": pa.chunked_array(lists, pa.list_(pa.string()))})
    rows, queries = _joined(parts)
    if by == "query":
        order = np.argsort(queries, kind="stable")
        offsets = _offsets(queries, len(plan))
        lists_of_rows = pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(rows[order]))
        return pa.table({"query": plan.query_ids, "count": pa.array(np.diff(offsets)), "rows": lists_of_rows})
    return pa.table({"row": pa.array(rows), "query": _ids(plan, queries)})


def count_table(plan: Plan, parts: Iterable[Matches]) -> pa.Table:
    """Return an Arrow table of the number of rows that each query accepts. It has the columns ``query`` and ``count``
    int64, and one row for every query, sorted by id. ``parts``: the matches of the consecutive parts of the matched
    table.
    """
    counts = np.zeros(len(plan), dtype=np.int64)
    for matches in parts:
        counts += np.bincount(matches.queries, minlength=len(plan))
    return pa.table({"query": plan.query_ids, "count": pa.array(counts)})


def ids_by_row(plan: Plan, matches: Matches) -> pa.ListArray:
    """Return for each row the sorted list of the ids of the queries that accept it.

    Raise PlanError if the ids have more text than one Arrow array holds.
    """
    offsets = pa.array(_offsets(matches.rows, matches.tuples), pa.int32())
    ids = _ids(plan, matches.queries)
    if ids.num_chunks > 1:
        remedy = "more than 2 GiB of ids for a part of the table: match fewer rows at a time"
        raise PlanError("ids of accepting queries", f"{len(ids)} of them", remedy)
    return pa.ListArray.from_arrays(offsets, ids.combine_chunks())


def filtered(part: Part, mask: pa.BooleanArray) -> pa.Table:
    """Return the rows of a part of a table that a mask selects.

    Arrow cannot filter columns of view types, so these get the large types for the same values. Arrow cannot filter
    run-end encoded columns either, so these are decoded. Raise PlanError for any other column that Arrow cannot filter.
    """
    fields: list[pa.Field] = []
    columns: list[pa.ChunkedArray] = []
    for field, values in zip(part.schema, part.columns, strict=True):
        plain = pc.run_end_decode(values) if pa.types.is_run_end_encoded(field.type) else values
        kind = _without_views(plain.type)
        try:
            plain = plain if kind == plain.type else plain.cast(kind)
            columns.append(plain.filter(mask))
        except pa.ArrowNotImplementedError as error:
            raise PlanError("column", field.name, f"rows of {field.type} cannot be taken: leave it out") from error
        fields.append(field.with_type(kind))
    return pa.table(columns, pa.schema(fields, part.schema.metadata))


def _without_views(data_type: pa.DataType) -> pa.DataType:
    types = pa.types
    if types.is_string_view(data_type):
        return pa.large_string()
    if types.is_binary_view(data_type):
        return pa.large_binary()
    if types.is_dictionary(data_type):
        return pa.dictionary(data_type.index_type, _without_views(data_type.value_type), data_type.ordered)
    if types.is_struct(data_type):
        inner = [data_type.field(i) for i in range(data_type.num_fields)]
        return pa.struct([field.with_type(_without_views(field.type)) for field in inner])
    if types.is_list(data_type) or types.is_large_list(data_type):
        item = data_type.value_field.with_type(_without_views(data_type.value_type))
        return pa.list_(item) if types.is_list(data_type) else pa.large_list(item)
    return data_type


def _joined(parts: Iterable[Matches]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the rows and the queries of the accepted pairs of all parts. The rows are numbered from the first row of
    the first part on.
    """
    rows, queries, before = [np.empty(0, np.int32)], [np.empty(0, np.int32)], 0
    for matches in parts:
        if before + matches.tuples > _MOST_ROWS:
            raise PlanError("table of", f"more than {_MOST_ROWS} rows", "match it in pieces, or ask for counts")
        rows.append(matches.rows + np.int32(before))
        queries.append(matches.queries)
        before += matches.tuples
    return np.concatenate(rows), np.concatenate(queries)


def _offsets(places: npt.NDArray[np.int32], count: int) -> npt.NDArray[np.int64]:
    """Return offsets int64[count + 1] into pairs that are sorted by row, or by query. The pairs of row i, or of query
    i, are ``offsets[i]`` to ``offsets[i + 1]``. ``places``: the row, or the query, of each pair.
    """
    offsets = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(places, minlength=count), out=offsets[1:])
    return offsets


def _ids(plan: Plan, queries: npt.NDArray[np.int32]) -> pa.ChunkedArray:
    """Return the ids of queries, in chunks within the size limit of an Arrow array of strings."""
    lengths = np.asarray(pc.binary_length(plan.query_ids), dtype=np.int64)
    if not len(queries) or len(queries) * int(lengths.max()) <= _TEXT_BYTES:
        return pa.chunked_array([plan.query_ids.take(pa.array(queries))], pa.string())
    ends = np.cumsum(lengths[queries])
    pieces, start = [], 0
    while start < len(queries):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + _TEXT_BYTES, side="right")))
        pieces.append(plan.query_ids.take(pa.array(queries[start:stop])))
        start = stop
    return pa.chunked_array(pieces, pa.string())
