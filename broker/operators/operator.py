"""The protocol of operators in the job of a stream: it turns accepted records into outgoing records, with one write for
each batch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pyspark.sql import Column


class Operator(Protocol):
    """The stateless part of an operator: the projection of accepted records to outgoing records.

    A matched record has a *target* for each destination that it goes to. A target is a text that contains the
    destination and the ids that accept the record (:mod:`broker.matching.matches_text`). The operator returns the
    outgoing records for the targets that it :meth:`takes`. All values are columns that the JVM computes, over RECORD,
    ERROR, ``target`` and the operator's own ``columns``. An operator with a state writes to a topic that a second Spark
    query reads.
    """

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return the additional columns that the operator needs, over the attributes, each with a unique name."""

    def targets(self, deliveries: Column) -> Column:
        """Return the column of a record's targets: the text ``deliveries``, to which the operator adds its own targets.
        It is NULL if the record has no target.
        """

    def takes(self) -> Column:
        """Return the column that is true if the operator processes a target (BOOLEAN)."""

    def topic(self) -> Column:
        """Return the column of the topic (STRING)."""

    def partition(self) -> Column:
        """Return the column of the partition (INT). It is NULL if the key determines the partition."""

    def key(self) -> Column:
        """Return the column of the key (BINARY)."""

    def value(self) -> Column:
        """Return the column of the value (BINARY)."""

    def headers(self) -> Column:
        """Return the column of the headers (ARRAY<STRUCT<key: STRING, value: BINARY>>)."""

    def size(self) -> Column:
        """Return the column of an upper bound of the record's size in bytes (BIGINT), computed from the
        other columns.
        """
