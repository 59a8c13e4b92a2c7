"""``broker.register_function``: a set of predicates as a function of Spark SQL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.pandas.functions import pandas_udf
from pyspark.sql.types import StructType

from asc.layer_file import layers_of
from asc.plan.compiler import compile_plan
from asc.plan.plan import CompileOptions, Query
from asc.predicate import Limits
from asc.predicate.normal_form.join_predicate import Join
from asc.schema import Schema
from asc.spark_types import ddl_of_type, folded, quoted_name
from asc.spatial.layer import Layer
from broker.errors import MatchError
from broker.failure import check_jvm, one_line, root_cause
from broker.interpreter import own_interpreter
from broker.matching.dataframe import schema_of
from broker.matching.matches_text import BETWEEN_IDS
from broker.matching.named_queries import normalised_queries
from broker.matching.shipped_plan import ShippedPlan, ansi_off
from broker.matching.worker import matching_task

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,99}\Z")
_IN_PYTHON, _AROUND = "__asc_{}", "__asc_{}_apart"
"""The names of two helper functions of a registered function. ``_IN_PYTHON`` runs in Python. ``_AROUND`` is in SQL and
calls ``_IN_PYTHON``; it exists only if a separate projection computes some arguments.
"""


@dataclass(frozen=True, slots=True)
class SetFunction:
    """A set of predicates that is registered as a function in a session.

    ``columns``: the function's arguments, in this order. ``call``: a call with columns of the registered names. Cost: a
    copy of the plan on the disks of the driver and of each host, as long as the session has the function.
    """

    name: str
    columns: tuple[str, ...]

    @property
    def call(self) -> str:
        """Return the call of the function, for a SQL query over the table for which the function was registered.

        >>> SetFunction("alerts", ("arr_delay", "a b")).call
        'alerts(arr_delay, `a b`)'
        """
        return f"{self.name}({', '.join(map(quoted_name, self.columns))})"


def register_function(
    spark: SparkSession,
    name: str,
    queries: Mapping[str, str | Join],
    schema: DataFrame | StructType | Schema | str,
    *,
    limits: Limits | None = None,
    options: CompileOptions | None = None,
    crs: str | None = None,
    layers: Mapping[str, Layer | str | Path] | None = None,
) -> SetFunction:
    """Register a set of predicates in a session as a SQL function. The call ``name(column, ...)`` returns the sorted
    ids of the queries that accept the row, as ``array<string>``. The array is empty if no query accepts the row.

    The parameters of the function are the columns that the predicates name, in the order of the ``schema``. ``schema``
    is a table with these columns, or any value that :meth:`Schema.of` accepts. The function accepts the same rows as
    :func:`broker.match`. The time zone is the time zone that the session has at registration; ``crs`` and ``layers``
    are as for :func:`broker.match`. An earlier function of this name is replaced. Raises MatchError for an invalid
    name, for the name of another function, for an illegal id, and for an expression that Spark refuses. Raises
    PredicateError for an invalid predicate; the error names the query. Raises SchemaError for an invalid ``schema``,
    ``crs`` or ``layers``, and ShapeError for an invalid file of shapes.
    """
    if not hasattr(spark, "sql"):
        raise MatchError("session of type", type(spark).__name__, "give a SparkSession")
    if not hasattr(spark, "_jsparkSession"):
        raise MatchError("session of", "Spark Connect", "has no broadcast; use a classic session")
    _check_name(spark, name)
    attributes = schema_of(schema) if isinstance(schema, DataFrame) else Schema.of(schema)
    attributes = attributes if crs is None else attributes.with_crs(crs)
    if layers is not None:
        attributes = attributes.with_layers(layers_of(layers, attributes.crs))
    zone = spark.conf.get("spark.sql.session.timeZone") or "UTC"
    normalised = list(normalised_queries(queries, attributes, limits or Limits(), zone))
    parameters = tuple(_parameters(attributes, normalised))
    if folded(name) in {folded(parameter.name) for parameter in parameters}:
        raise MatchError("function", name, "is the name of a column that it takes: choose another")
    # A frame needs a column, so add one that no predicate reads if there is none.
    rows = spark.createDataFrame([], _ddl(parameters) or "none INT")
    shipped = ShippedPlan.of(rows, compile_plan(normalised, options), normalised)
    with ansi_off(spark):
        _register(spark, name, parameters, shipped, rows)
    return SetFunction(name, tuple(parameter.name for parameter in parameters))


def _register(
    spark: SparkSession, name: str, parameters: Sequence[pa.Field], shipped: ShippedPlan, rows: DataFrame
) -> None:
    task = matching_task(shipped.transport, shipped.parts, "queries")
    in_python, around = _IN_PYTHON.format(name), _AROUND.format(name)
    with own_interpreter(spark.sparkContext):
        # As in broker.match: Spark would evaluate a deterministic one twice.
        function = pandas_udf(task, "string").asNondeterministic()  # type: ignore[call-overload]
        spark.udf.register(in_python, function)
    text = f"{in_python}({', '.join(shipped.transport.arguments)})"
    body = f"coalesce(split({text}, '{BETWEEN_IDS}'), CAST(array() AS ARRAY<STRING>))"
    apart = shipped.transport.apart
    if apart:
        computed = rows.select(*(sf.expr(sql).alias(column) for column, sql in apart.items())).schema
        types = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in computed)
        _define(spark, around, ", ".join(filter(None, (_ddl(parameters), types))), body)
        own = [quoted_name(parameter.name) for parameter in parameters]
        body = f"{around}({', '.join([*own, *apart.values()])})"
    _define(spark, name, _ddl(parameters), body)


def _define(spark: SparkSession, name: str, parameters: str, body: str) -> None:
    text = f"CREATE OR REPLACE TEMPORARY FUNCTION {name}({parameters}) RETURNS ARRAY<STRING> RETURN {body}"
    try:
        spark.sql(text)
    except Exception as error:
        check_jvm(error)
        raise MatchError("function", name, f"is refused by Spark: {one_line(root_cause(error))}") from error


def _check_name(spark: SparkSession, name: str) -> None:
    if not isinstance(name, str) or not _NAME.match(name):
        raise MatchError("function", name, "is a letter, and letters, digits and _ after it, a hundred at most")
    is_ours = spark.catalog.functionExists(_IN_PYTHON.format(name))
    if not is_ours and spark.catalog.functionExists(name):
        raise MatchError("function", name, "is there already: choose another name")


def _parameters(schema: Schema, queries: Iterable[Query]) -> Iterator[pa.Field]:
    """Yield the columns that queries name, in the schema's order. All columns are nullable, because any argument may be
    NULL.
    """
    named = {folded(path[0]) for query in queries for path in query.predicate.columns}
    for field in schema.arrow:
        if folded(field.name) in named:
            yield field.with_nullable(True).with_type(_nullable(field.type))


def _nullable(data_type: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(data_type):
        inner = [data_type.field(i) for i in range(data_type.num_fields)]
        return pa.struct([field.with_nullable(True).with_type(_nullable(field.type)) for field in inner])
    if pa.types.is_map(data_type):
        return pa.map_(_nullable(data_type.key_type), _nullable(data_type.item_type))
    return pa.list_(_nullable(data_type.value_type)) if pa.types.is_list(data_type) else data_type


def _ddl(parameters: Iterable[pa.Field]) -> str:
    return ", ".join(f"{quoted_name(field.name)} {ddl_of_type(field.type)}" for field in parameters)
