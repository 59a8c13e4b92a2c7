"""The protocol of operators in the job of a stream: accepted records in, outgoing records out, in one write a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pyspark.sql import Column


class Operator(Protocol):
    """The stateless part of an operator: the projection of accepted records to outgoing records.

    A record that was matched has a *target* for each destination that it goes to. A target is a text of the destination
    and of the ids that accept it (:mod:`broker.matching.matches_text`). For the targets that it :meth:`takes`, an
    operator gives the outgoing records. All of it are columns, which the JVM computes: over RECORD, ERROR, ``target``,
    and the operator's own ``columns``. An operator with a state writes to a topic that a second query of Spark's reads.
    """

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return the columns that it needs beside the record itself, over the attributes, each under a unique name."""

    def targets(self, deliveries: Column) -> Column:
        """Return the deliveries of a record, as a text or NULL, with the targets that the operator adds to them."""

    def takes(self) -> Column:
        """Return whether the operator takes a target (BOOLEAN)."""

    def topic(self) -> Column:
        """Return the topic (STRING)."""

    def partition(self) -> Column:
        """Return the partition (INT); NULL where the key decides."""

    def key(self) -> Column:
        """Return the key (BINARY)."""

    def value(self) -> Column:
        """Return the value (BINARY)."""

    def headers(self) -> Column:
        """Return the headers (ARRAY<STRUCT<key: STRING, value: BINARY>>)."""

    def size(self) -> Column:
        """Return the most bytes that the record takes, over the columns before as well (BIGINT)."""
