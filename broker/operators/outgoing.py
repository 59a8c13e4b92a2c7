"""The projections from matched records to the records that are written: the outputs of operators for their targets, and
dead letters.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from broker.formats.decoder import ERROR, RECORD
from broker.matching.matches_text import BETWEEN_TOPICS
from broker.operators.headers import EXCESS, HEADER_ERROR, HEADER_SOURCE, HEADER_TIMESTAMP
from broker.operators.operator import Operator
from broker.operators.routing import SOURCE, TIMESTAMP, Routing

if TYPE_CHECKING:
    from pyspark.sql import Column

_EXCESS_HEADERS = f"""array(struct('{HEADER_ERROR}' AS key, CAST(excess AS BINARY) AS value),
                            struct('{HEADER_SOURCE}' AS key, CAST(source AS BINARY) AS value),
                            struct('{HEADER_TIMESTAMP}' AS key, CAST(timestamp AS BINARY) AS value))"""
_KEPT_KEY_BYTES = 65_536


def outgoing(
    deliveries: str,
    dead_letter_topic: str,
    limits: Mapping[str, int],
    operators: Sequence[Operator] = (),
    carried: Sequence[str] = (),
) -> tuple[tuple[Column, ...], ...]:
    """Return the projections of matched records, to be applied one after the other. The last one gives the records to
    write.

    The columns of these records are ``topic``, ``key``, ``value`` and ``headers``. If ``operators`` is not empty, they
    also have ``partition``.

    ``deliveries`` names the column of destinations and queries as one text (:mod:`broker.matching.matches_text`). A
    target goes to the first of the ``operators`` that processes it. If there is none, the record is routed. A record
    with a reason in ERROR goes to the dead-letter topic and nowhere else. ``carried``: the names of the operators' own
    columns.

    ``limits`` holds the largest record, in bytes, of each topic. For a larger record a dead letter is written, without
    value and without the record's own headers.
    """
    from pyspark.sql import functions as sf

    routing, others = Routing(), list(operators)

    def chosen(part: Callable[[Operator], Column]) -> Column:
        found = part(routing)
        for operator in reversed(others):
            found = sf.when(operator.takes(), part(operator)).otherwise(found)
        return found

    delivered = sf.col(deliveries)
    for operator in others:
        delivered = operator.targets(delivered)
    targets = sf.when(sf.col(ERROR).isNull(), sf.split(delivered, BETWEEN_TOPICS)).otherwise(
        sf.array(sf.lit(dead_letter_topic))
    )
    kept = (RECORD, ERROR, *carried)
    exploded = (*map(sf.col, kept), sf.explode(targets).alias("target"))
    # Without other operators there is no column for the partition, and the key determines it.
    partition = (chosen(lambda op: op.partition()).alias("partition"),) if others else ()
    records = (
        chosen(lambda op: op.topic()).alias("topic"),
        chosen(lambda op: op.key()).alias("key"),
        chosen(lambda op: op.value()).alias("value"),
        chosen(lambda op: op.headers()).alias("headers"),
        *partition,
        sf.expr(SOURCE).alias("source"),
        sf.expr(TIMESTAMP).alias("timestamp"),
        *map(sf.col, ("target", *kept)),
    )
    names = ("topic", "key", "value", "headers", *(("partition",) if others else ()), "source", "timestamp")
    sized = (*map(sf.col, names), chosen(lambda op: op.size()).alias("bytes"))
    checked = (sf.col("*"), _excess(limits).alias("excess"))
    fits = sf.col("excess").isNull()
    written = (
        sf.when(fits, sf.col("topic")).otherwise(sf.lit(dead_letter_topic)).alias("topic"),
        sf.when(fits | (sf.octet_length("key") <= _KEPT_KEY_BYTES), sf.col("key")).alias("key"),
        sf.when(fits, sf.col("value")).alias("value"),
        sf.when(fits, sf.col("headers")).otherwise(sf.expr(_EXCESS_HEADERS)).alias("headers"),
        *((sf.when(fits, sf.col("partition")).alias("partition"),) if others else ()),
    )
    return exploded, records, sized, checked, written


def usual_limit(limits: Mapping[str, int]) -> tuple[int, dict[str, int]]:
    """Return the usual record size limit in bytes, which is the largest of ``limits``, and the limits of the topics
    that have a smaller limit. The projections depend only on these two values, so an additional topic with the usual
    limit needs no new projections.
    """
    usual = max(limits.values())
    return usual, {topic: limit for topic, limit in limits.items() if limit != usual}


def _excess(limits: Mapping[str, int]) -> Column:
    from pyspark.sql import functions as sf

    usual, others = usual_limit(limits)
    limit = sf.lit(usual).cast("bigint")
    if others:
        by_topic = sf.from_json(sf.lit(json.dumps(others)), "map<string, bigint>")
        limit = sf.coalesce(sf.element_at(by_topic, sf.col("topic")), limit)
    said = sf.concat(
        *(sf.lit(EXCESS), sf.col("topic"), sf.lit(" takes "), sf.col("bytes").cast("string")),
        *(sf.lit(" bytes with its headers, over the limit of "), limit.cast("string")),
    )
    return sf.when((sf.col("bytes") > min(limits.values())) & (sf.col("bytes") > limit), said)
