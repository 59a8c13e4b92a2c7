"""The columns of a file for DBSCAN queries: values, times, keys, and the rows that each predicate accepts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from broker.files.decoding import Decoding

if TYPE_CHECKING:
    import pyarrow as pa

    from asc.operators.dbscan.expressions import DbscanExpression
    from asc.predicate import Predicate
    from cli.operators.dbscan.file_queries import FileQuery

NO_TIME_US = -(2**63)
"""The value that represents a time that is NULL."""


@dataclass(frozen=True, slots=True, eq=False)
class FileColumns:
    """The rows of a file, in order, as columns that queries need.

    ``values``: a float64[rows] by the SQL text of each value expression, with NaN for NULL. ``times``: an int64[rows]
    of microseconds by the SQL text of each time expression, with NO_TIME_US for NULL. ``keys``: a sequence by the SQL
    text of each key expression. ``accepted``: a bool[rows] by the text of each predicate. ``is_decoded``: false for
    rows that a stream would not decode.
    """

    is_decoded: npt.NDArray[np.bool_]
    values: Mapping[str, npt.NDArray[np.float64]]
    times: Mapping[str, npt.NDArray[np.int64]]
    keys: Mapping[str, Sequence[str | None]]
    accepted: Mapping[str, npt.NDArray[np.bool_]]

    @property
    def count(self) -> int:
        """Return the number of rows."""
        return len(self.is_decoded)


@dataclass(frozen=True, slots=True)
class Asked:
    """The distinct expressions and predicates that queries need of each row, by their SQL text."""

    values: Mapping[str, DbscanExpression]
    times: Mapping[str, DbscanExpression]
    keys: Mapping[str, DbscanExpression]
    wheres: Mapping[str, Predicate]

    @staticmethod
    def of(queries: Iterable[FileQuery]) -> Asked:
        """Return the expressions and predicates of the queries."""
        file_queries = list(queries)
        expressions = [query.expressions for query in file_queries]
        return Asked(
            {value.sql: value for each in expressions for value in each.values},
            {each.time.sql: each.time for each in expressions if each.time is not None},
            {each.key.sql: each.key for each in expressions if each.key is not None},
            {query.where.text: query.where for query in file_queries},
        )

    @property
    def expressions(self) -> list[DbscanExpression]:
        """Return all expressions."""
        return [*self.values.values(), *self.times.values(), *self.keys.values()]

    def why_spark(self) -> str | None:
        """Return the reason why the columns need Spark, with the first expression that only Spark can compute. Return
        None if they do not need Spark.
        """
        import pyarrow as pa

        for where in self.wheres.values():
            for attribute in where.p_attributes:
                if attribute.is_computed:
                    return f"WHERE has Spark compute {attribute.as_written}"
        for expression in self.expressions:
            if expression.path is None:
                return f"a query has Spark compute {expression.sql}"
        for key in self.keys.values():
            if not (pa.types.is_string(key.type) or pa.types.is_integer(key.type)):
                return f"the key has Spark write {key.sql} as a text"
        return None


def plain_columns(path: Path, format_name: str, decoding: Decoding, asked: Asked) -> FileColumns:
    """Return the columns of a file, computed without Spark. Raise DoubtError if only Spark can decide how to read a
    row.
    """
    from tqdm import tqdm

    from asc.matcher import Matcher
    from broker.files.plain_rows import plain_tables

    names = {str(number): text for number, (text, own) in enumerate(asked.wheres.items()) if not own.match_all}
    matcher = Matcher(decoding.schema, names, time_zone=decoding.time_zone)
    needed = {own.path[0] for own in asked.expressions if own.path is not None}
    needed |= {column[0] for where in asked.wheres.values() for column in where.columns}
    parts: dict[tuple[str, str], list[Any]] = {}

    def add(kind: str, text: str, part: object) -> None:
        parts.setdefault((kind, text), []).append(part)

    rows = 0
    with tqdm(total=path.stat().st_size, unit="B", unit_scale=True, desc="reading", disable=None) as bar:
        for table in plain_tables(path, format_name, decoding, needed, lambda read: bar.update(read - bar.n)):
            for text, own in asked.values.items():
                add("value", text, _numbers(_column(table, own)))
            for text, own in asked.times.items():
                add("time", text, _times(_column(table, own)))
            for text, own in asked.keys.items():
                add("key", text, _keys(_column(table, own), text))
            found = {row["query"]: row["rows"] for row in matcher.match(table, by="query").to_pylist()} if names else {}
            for text, own_rows in ((names[name], own_rows) for name, own_rows in found.items()):
                accepted = np.zeros(table.num_rows, dtype=np.bool_)
                accepted[own_rows] = True
                add("where", text, accepted)
            rows += table.num_rows
    everything = {text: np.ones(rows, dtype=np.bool_) for text, own in asked.wheres.items() if own.match_all}
    others = {text: _joined(parts.get(("where", text)), np.bool_) for text in names.values()}
    return FileColumns(
        np.ones(rows, dtype=np.bool_),
        {text: _joined(parts.get(("value", text)), np.float64) for text in asked.values},
        {text: _joined(parts.get(("time", text)), np.int64) for text in asked.times},
        {text: [key for part in parts.get(("key", text), ()) for key in part] for text in asked.keys},
        {**everything, **others},
    )


def _column(table: pa.Table, expression: DbscanExpression) -> Any:
    from asc.column_casts import column_at

    assert expression.path is not None
    return column_at(table, expression.path, expression.sql)


def _numbers(column: Any) -> npt.NDArray[np.float64]:
    """Return the numbers of a column as doubles, as Spark casts them. NULL becomes NaN."""
    from asc.column_casts import as_doubles

    found: npt.NDArray[np.float64] = as_doubles(column).to_numpy(zero_copy_only=False)
    return found


def _times(column: Any) -> npt.NDArray[np.int64]:
    import pyarrow as pa

    found: npt.NDArray[np.int64] = column.cast(pa.int64()).fill_null(NO_TIME_US).to_numpy()
    return found


def _keys(column: Any, sql: str) -> list[str | None]:
    """Return the keys in a column of texts or integers. Raise DoubtError for a text that is not UTF-8, which a Parquet
    file may contain.
    """
    from broker.files.plain_rows import DoubtError

    try:
        return [None if key is None else str(key) for key in column.to_pylist()]
    except UnicodeDecodeError:
        raise DoubtError(f"the key {sql} has a text that is not UTF-8") from None


def _joined(parts: Sequence[npt.NDArray[Any]] | None, dtype: type) -> npt.NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=dtype)
