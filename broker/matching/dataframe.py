"""``broker.match``: the rows of a DataFrame that at least one of many predicates accepts, each with the ids of these
predicates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.pandas.functions import pandas_udf
from pyspark.sql.types import StructType

from asc.errors import SchemaError
from asc.layer_file import layers_of
from asc.plan.compiler import compile_plan
from asc.plan.plan import CompileOptions
from asc.predicate import Limits
from asc.predicate.normal_form.join_predicate import Join
from asc.schema import WGS84, Schema
from asc.spatial.layer import Layer
from broker.errors import MatchError
from broker.interpreter import own_interpreter
from broker.matching.matches_text import BETWEEN_IDS
from broker.matching.named_queries import normalised_queries
from broker.matching.shipped_plan import ShippedPlan, ansi_off
from broker.matching.tally import Tallying
from broker.matching.transport import APART
from broker.matching.worker import Output, matching_task

if TYPE_CHECKING:
    from pyspark.sql._typing import UserDefinedFunctionLike

QUERIES_COLUMN = "queries"
DELIVERIES_COLUMN = "__asc_deliveries"

_MATCHES_COLUMN = "__asc_matches"


def match(
    df: DataFrame,
    queries: Mapping[str, str | Join],
    *,
    limits: Limits | None = None,
    options: CompileOptions | None = None,
    crs: str = WGS84,
    layers: Mapping[str, Layer | str | Path] | None = None,
) -> DataFrame:
    """Return the rows that at least one query accepts. One more column, ``queries array<string>``, has the sorted ids
    of the queries that accept the row.

    ``df`` is a batch or a streaming DataFrame; its columns are returned unchanged, whatever their types. ``queries``
    maps an id to a predicate (Spark SQL) over these columns. A query accepts exactly the rows that
    ``df.filter(predicate)`` accepts with ``spark.sql.ansi.enabled=false``, in the session's time zone. Only the
    p-attributes that the predicates use cross into Python, and the engine evaluates each row once. ``crs``: the
    coordinate reference system of positions, ``wgs84`` or ``planar``. ``layers``: the layers of ``shape('layer',
    'id')`` by name. A layer is the result of :func:`asc.read_layer`, or the path of a file of shapes. The id of a shape
    in a file is the id of the Feature, or the property ``id``. A query may be a join over a layer, ``asc.Join("layer",
    "predicate")``. The column ``queries`` then has the id ``<id>/<shape>`` for each shape that accepts the row.

    Raises MatchError for an illegal id, for a DataFrame that already has a column ``queries``, and for an expression
    that Spark refuses. Raises PredicateError for an invalid predicate; the error names the query. Raises SchemaError
    for an invalid ``crs`` or ``layers``, and ShapeError for an invalid file of shapes.
    """
    _check_frame(df, QUERIES_COLUMN)
    spark = df.sparkSession
    zone = spark.conf.get("spark.sql.session.timeZone") or "UTC"
    schema = schema_of(df).with_crs(crs).with_layers(layers_of(layers or {}, crs))
    normalised = list(normalised_queries(queries, schema, limits or Limits(), zone))
    return match_plan(df, ShippedPlan.of(df, compile_plan(normalised, options), normalised))


def match_plan(
    df: DataFrame,
    shipped: ShippedPlan,
    *,
    observation: Observation | None = None,
    tallying: Tallying | None = None,
) -> DataFrame:
    """Match a DataFrame with a plan that was shipped for its columns, as :func:`match` does.

    In the same pass, ``observation`` (only for a batch DataFrame) counts ``tuples`` and ``accepted``, and ``tallying``
    counts and samples. Raise MatchError if the DataFrame already has a column with a name that the result needs.
    """
    _check_frame(df, QUERIES_COLUMN)
    with ansi_off(df.sparkSession):
        raw = _free_name(df)
        apart = shipped.transport.columns_apart()
        computed = df.select("*", *apart) if apart else df
        with own_interpreter(df.sparkSession.sparkContext):
            matched = computed.select("*", _matches(shipped, "queries", tallying).alias(raw))
        if observation is not None:
            counts = (sf.count(sf.lit(1)).alias("tuples"), sf.count(raw).alias("accepted"))
            matched = matched.observe(observation, *counts)
        accepted = matched.filter(sf.col(raw).isNotNull())
        return accepted.withColumn(QUERIES_COLUMN, sf.split(raw, BETWEEN_IDS)).drop(raw, *shipped.transport.apart)


def delivering(
    spark: SparkSession,
    shipped: ShippedPlan,
    kept: Sequence[str],
    tallying: Tallying | None = None,
    facts: Sequence[Column] = (),
) -> tuple[tuple[Column, ...], ...]:
    """Return the successive projections that match a DataFrame for which a plan was shipped. Every row is kept.

    The projections select the columns ``kept`` and DELIVERIES_COLUMN, a text (:mod:`broker.matching.matches_text`) that
    is NULL if no query accepts the row. The text has each destination topic of an accepting query, and the sorted ids
    of these queries.

    The projections serve all DataFrames with the same columns. ``tallying`` counts and samples in the same pass; it
    reads the columns ``facts`` of a row. If the plan has tracks or folded queries, these are the source partition (INT)
    and an event time for each track (BIGINT). If ``tallying`` counts records, the last column is the record's number
    (BIGINT, see ``REASON_BITS``). Analyse the projections in a session with ANSI mode off.
    """
    columns = tuple(map(sf.col, kept))
    with own_interpreter(spark.sparkContext):
        matches = _matches(shipped, "deliveries", tallying, facts)
    matching = (*columns, matches.alias(DELIVERIES_COLUMN))
    apart = shipped.transport.columns_apart()
    return ((sf.col("*"), *apart), matching) if apart else (matching,)


def schema_of(df: DataFrame) -> Schema:
    """Return the attributes of a DataFrame that predicates may name.

    A column is excluded if predicates do not support its type. ``Schema.excluded`` has the reason.
    """
    excluded = {field.name: why for field in df.schema.fields if (why := _why_excluded(field.jsonValue())) is not None}
    known = StructType([field for field in df.schema.fields if field.name not in excluded])
    return replace(Schema.from_json(known.json()), excluded=excluded)


def _why_excluded(field: object) -> str | None:
    """Return the reason why predicates may not name a column. Return None if they may name the column."""
    try:
        Schema.from_json({"type": "struct", "fields": [field]})
    except SchemaError as error:
        return str(error)
    return None


def _check_frame(df: DataFrame, column: str) -> None:
    if not isinstance(df, DataFrame):
        remedy = "give a DataFrame of PySpark; asc.Matcher takes tables of Arrow, Polars, pandas and DuckDB"
        raise MatchError("DataFrame of type", type(df).__name__, remedy)
    if not hasattr(df, "_jdf"):
        raise MatchError(
            "DataFrame of", "Spark Connect", "has no broadcast; use a classic session (SparkSession.builder.master)"
        )
    taken = [name for name in df.columns if name.lower() == column or name.lower().startswith(APART)]
    if taken:
        raise MatchError("column", taken[0], "is a name that the result needs: rename it before matching")


def _free_name(df: DataFrame) -> str:
    taken = {name.lower() for name in df.columns}
    name = _MATCHES_COLUMN
    while name in taken:
        name += "_"
    return name


def matching_function(spark: SparkSession, shipped: ShippedPlan, tallying: Tallying | None) -> Any:
    """Return the JVM object of the Python function that :func:`delivering` calls.

    The object can replace the function of another plan, if both plans send the same p-attributes to the workers
    (:meth:`ShippedPlan.crosses`).
    """
    with own_interpreter(spark.sparkContext):
        function: Any = _function(shipped, "deliveries", tallying)
        return function._unwrapped._judf.func()


def _function(shipped: ShippedPlan, output: Output, tallying: Tallying | None) -> UserDefinedFunctionLike:
    task = matching_task(shipped.transport, shipped.parts, output, tallying, shipped.folding)
    # Spark would evaluate a deterministic one twice: once for the filter, once for the column.
    function: UserDefinedFunctionLike = pandas_udf(task, "string").asNondeterministic()  # type: ignore[call-overload]
    return function


def _matches(shipped: ShippedPlan, output: Output, tallying: Tallying | None, facts: Sequence[Column] = ()) -> Column:
    arguments = [*map(sf.expr, shipped.transport.arguments), *facts]
    column: Column = _function(shipped, output, tallying)(*arguments)
    return column
