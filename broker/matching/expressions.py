"""Spark's analysis of p-attributes as expressions over the columns of a DataFrame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from asc.keys.attribute import PAttribute
from broker.failure import check_jvm, one_line, root_cause

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField


@dataclass(frozen=True, slots=True)
class Analysis:
    """The result of Spark's analysis of p-attributes: whether accepted p-attributes may be NULL, and why others are
    refused.

    ``nullable``: whether the values of an accepted p-attribute may be NULL. ``refusals``: the remedy for a refused
    p-attribute, in one line; in an error, it follows the name of the expression. Every analysed p-attribute is in one
    of the two mappings. Each mapping is in the order of the analysis.
    """

    nullable: Mapping[PAttribute, bool]
    refusals: Mapping[PAttribute, str]


def analyse(frame: DataFrame, attributes: Iterable[PAttribute], *, plan: bool = False) -> Analysis:
    """Analyse p-attributes over a frame with Spark, with the settings of the frame's session. No Spark job is run.

    With ``plan``, Spark also plans the expressions: it folds constants and compiles patterns. So Spark finds errors
    that would otherwise appear only when rows are evaluated. Do not use ``plan`` for a streaming frame, because Spark
    plans a streaming frame only when its query starts.
    """
    wanted = list(dict.fromkeys(attributes))
    # Try all expressions together. Only if that fails, try each alone to find the faulty ones.
    together = _tried(frame, wanted, plan)
    if not isinstance(together, str):
        field_by_attribute: dict[PAttribute, StructField | str] = dict(zip(wanted, together, strict=True))
    else:
        alone = [_tried(frame, [attribute], plan) for attribute in wanted]
        field_by_attribute = {
            a: tried if isinstance(tried, str) else tried[0] for a, tried in zip(wanted, alone, strict=True)
        }
        if not any(isinstance(tried, str) for tried in alone):
            field_by_attribute = dict.fromkeys(wanted, together)
    return _by_type(field_by_attribute)


def countable_errors(frame: DataFrame, attributes: Iterable[PAttribute]) -> dict[int, str]:
    """Return the SQL conditions under which p-attributes fail to evaluate, by the index of the p-attribute. The
    conditions are used to count evaluation errors. A condition that Spark refuses is excluded, because a missing count
    is better than a stopped stream.
    """
    conditions = {slot: a.error_condition for slot, a in enumerate(attributes) if a.error_condition is not None}
    if not conditions or not isinstance(_selected(frame, list(conditions.values()), False), str):
        return conditions
    return {slot: text for slot, text in conditions.items() if not isinstance(_selected(frame, [text], False), str)}


def _tried(frame: DataFrame, attributes: list[PAttribute], plan: bool) -> list[StructField] | str:
    """Return the columns that Spark derives from p-attributes. Return the reason as text if Spark refuses a
    p-attribute.
    """
    return _selected(frame, [attribute.sql for attribute in attributes], plan)


def _selected(frame: DataFrame, texts: list[str], plan: bool) -> list[StructField] | str:
    from pyspark.sql import functions as sf

    try:
        selected = frame.select(*(sf.expr(text).alias(f"p{place}") for place, text in enumerate(texts)))
        fields = selected.schema.fields
        if plan:
            selected._jdf.queryExecution().executedPlan()
    except Exception as error:
        check_jvm(error)
        return f"is refused by Spark: {one_line(root_cause(error))}"
    return fields


def _by_type(found: Mapping[PAttribute, StructField | str]) -> Analysis:
    from pyspark.sql.pandas.types import to_arrow_type

    nullable: dict[PAttribute, bool] = {}
    refusals: dict[PAttribute, str] = {}
    for attribute, column in found.items():
        if isinstance(column, str):
            refusals[attribute] = column
            continue
        try:
            kind = to_arrow_type(column.dataType)
        except Exception as error:
            refusals[attribute] = f"is of a type no predicate knows: {one_line(error)}"
            continue
        if kind == attribute.type or (attribute.parts and _with_nulls(kind) == attribute.type):
            nullable[attribute] = column.nullable
        else:
            remedy = "cast it to the type you mean"
            refusals[attribute] = f"is of type {kind} in Spark, not {attribute.type}: {remedy}"
    return Analysis(nullable, refusals)


def _with_nulls(kind: pa.DataType) -> pa.DataType:
    """Return a struct type with all fields made nullable. Return any other type unchanged."""
    return pa.struct([field.with_nullable(True) for field in kind]) if pa.types.is_struct(kind) else kind
