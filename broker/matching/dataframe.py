"""``broker.match``: the rows of a DataFrame that at least one of many predicates accepts, and which ones do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import pandas as pd
from pyspark import Broadcast
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.pandas.functions import pandas_udf
from pyspark.sql.types import StructType

from asc.errors import PredicateError, SchemaError
from asc.keys.attribute import PAttribute
from asc.plan.compiler import compile_plan
from asc.plan.format import from_bytes, to_bytes
from asc.plan.plan import CompileOptions, Query
from asc.predicate import Limits, normalise
from asc.schema import Schema
from broker.errors import MatchError
from broker.matching.expressions import analyse, countable_failures
from broker.matching.tally import Tallying
from broker.matching.transport import Transport
from broker.matching.worker import AFTER_TOPIC, BETWEEN_IDS, BETWEEN_TOPICS, Batch, Output, judge_of

QUERIES_COLUMN = "queries"
DELIVERIES_COLUMN = "__asc_deliveries"

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def match(
    df: DataFrame, queries: Mapping[str, str], *, limits: Limits | None = None, options: CompileOptions | None = None
) -> DataFrame:
    """The rows that at least one query accepts, with one more column ``queries array<string>``: their ids, sorted.

    ``df`` is a batch or a streaming DataFrame; its columns come back unchanged, whatever their types. ``queries`` maps
    an id to a predicate (Spark SQL) over them; accepted is exactly what ``df.filter(predicate)`` accepts with
    ``spark.sql.ansi.enabled=false``, in the session's time zone. Only the p-attributes that the predicates use cross
    into Python; the engine sees each row once.

    Raises MatchError (an illegal id, a column ``queries`` that is there already, an expression that Spark refuses),
    PredicateError (naming the query), SchemaError.
    """
    _check_frame(df, QUERIES_COLUMN)
    spark = df.sparkSession
    zone = spark.conf.get("spark.sql.session.timeZone") or "UTC"
    judged = list(_normalised(queries, schema_of(df), limits or Limits(), zone))
    compiled = compile_plan(judged, options)
    with _ansi_off(spark):
        _analysed(df, compiled.p_attributes, judged)
    return match_plan(df, spark.sparkContext.broadcast(to_bytes(compiled)))


def match_plan(
    df: DataFrame,
    plan: Broadcast[bytes],
    output: Output = "queries",
    *,
    observation: Observation | None = None,
    tallying: Tallying | None = None,
) -> DataFrame:
    """A DataFrame judged by a plan (``Plan.to_bytes``) that was broadcast.

    ``queries``: as :func:`match`. ``deliveries``: every row stays, with one more column DELIVERIES_COLUMN,
    array<struct<topic: string, queries: array<string>>>: one element for each topic that a query which accepts the
    row sends to, ids sorted; NULL where none accepts it. In the same pass, ``observation`` (batch only) counts
    ``tuples`` and ``accepted``, and ``tallying`` counts and draws.

    Raises MatchError: the column is there already, or Spark refuses an expression of the plan.
    """
    column = DELIVERIES_COLUMN if output == "deliveries" else QUERIES_COLUMN
    _check_frame(df, column)
    decoded = from_bytes(plan.value)
    with _ansi_off(df.sparkSession):
        nullable = _analysed(df, decoded.p_attributes)
        failures = {} if tallying is None else countable_failures(df, decoded.p_attributes)
        transport = Transport.of(decoded.p_attributes, nullable, failures)
        raw = _free_name(df)
        matched = df.select("*", _judged(judge_of(transport, plan, output, tallying), transport).alias(raw))
        if observation is not None:
            counts = (sf.count(sf.lit(1)).alias("tuples"), sf.count(raw).alias("accepted"))
            matched = matched.observe(observation, *counts)
        if output == "deliveries":
            return matched.withColumn(DELIVERIES_COLUMN, _deliveries(raw)).drop(raw)
        accepted = matched.filter(sf.col(raw).isNotNull())
        return accepted.withColumn(QUERIES_COLUMN, sf.split(raw, BETWEEN_IDS)).drop(raw)


def schema_of(df: DataFrame) -> Schema:
    """The attributes of a DataFrame that predicates may name: columns of a type no predicate knows are left out."""
    representable = StructType([field for field in df.schema.fields if _is_representable(field.jsonValue())])
    return Schema.from_json(representable.json())


def _is_representable(field: object) -> bool:
    try:
        Schema.from_json({"type": "struct", "fields": [field]})
    except SchemaError:
        return False
    return True


def _normalised(queries: Mapping[str, str], schema: Schema, limits: Limits, zone: str) -> Iterator[Query]:
    for query_id, text in queries.items():
        if not isinstance(query_id, str) or not query_id or _CONTROL.search(query_id):
            raise MatchError("query id", query_id, "is a text without control characters, at least one character long")
        try:
            yield Query(query_id, normalise(text, schema, limits=limits, time_zone=zone))
        except PredicateError as error:
            named = PredicateError(
                f"query {query_id!r}: {error.subject}",
                error.value,
                error.remedy,
                text=error.text,
                start=error.start,
                end=error.end,
            )
            raise named from None


def _check_frame(df: DataFrame, column: str) -> None:
    if not hasattr(df, "_jdf"):
        raise MatchError(
            "DataFrame of", "Spark Connect", "has no broadcast; use a classic session (SparkSession.builder.master)"
        )
    taken = [name for name in df.columns if name.lower() == column]
    if taken:
        raise MatchError("column", taken[0], "is what the result is called: rename it before matching")


def _free_name(df: DataFrame) -> str:
    taken = {name.lower() for name in df.columns}
    name = "__asc_matches"
    while name in taken:
        name += "_"
    return name


def _judged(judge: Callable[[Iterator[Batch]], Iterator[pd.Series]], transport: Transport) -> Column:
    function = pandas_udf(judge, "string")  # type: ignore[call-overload]
    # Spark would evaluate a deterministic one twice: once for the filter, once for the column.
    column: Column = function.asNondeterministic()(*map(sf.expr, transport.arguments))
    return column


def _deliveries(raw: str) -> Column:
    return sf.transform(
        sf.split(raw, BETWEEN_TOPICS),
        lambda topic: sf.struct(
            sf.substring_index(topic, AFTER_TOPIC, 1).alias("topic"),
            sf.split(sf.substring_index(topic, AFTER_TOPIC, -1), BETWEEN_IDS).alias("queries"),
        ),
    )


# -- what Spark has to say


def _analysed(df: DataFrame, attributes: Sequence[PAttribute], queries: Iterable[Query] = ()) -> list[bool]:
    """Whether each p-attribute may be NULL.

    Raises MatchError where Spark refuses one or finds it of another type, naming the ``queries`` that use it.
    """
    found = analyse(df, attributes)
    for attribute, remedy in found.refusals.items():
        raise MatchError(_subject(attribute, queries), attribute.sql, remedy)
    return [found.nullable[attribute] for attribute in attributes]


def _subject(attribute: PAttribute, queries: Iterable[Query]) -> str:
    users = sorted(query.id for query in queries if attribute in query.predicate.p_attributes)
    named = ", ".join(map(repr, users[:3])) + (", ..." if len(users) > 3 else "")
    return f"expression of {named}" if users else "expression"


@contextmanager
def _ansi_off(spark: SparkSession) -> Iterator[None]:
    """Analyse with ANSI mode off, whatever the session's: an evaluation error is NULL.

    Spark keeps the mode in the expressions it has analysed, so the session has its own again at once.
    """
    name = "spark.sql.ansi.enabled"
    before = spark.conf.get(name)
    if before is None or before == "false":
        yield
        return
    spark.conf.set(name, "false")
    try:
        yield
    finally:
        spark.conf.set(name, before)
