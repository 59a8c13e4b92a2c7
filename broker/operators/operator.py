"""What an operator is to the job of a stream: accepted records in, outgoing records out, in one write a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pyspark.sql import Column


class Operator(Protocol):
    """What becomes of the records that its queries accept, as far as that takes no state.

    A record that was matched has a *target* for each destination that it goes to: a text of the destination and of the
    ids that accept it (:mod:`broker.matching.matches_text`). For the targets that it :meth:`takes`, an operator says
    what is written. All of it are columns, which the JVM computes: over RECORD, ERROR, ``target``, and the operator's
    own ``columns``; what it needs a state for, it writes to a topic that a second query of Spark's reads.
    """

    @property
    def columns(self) -> tuple[Column, ...]:
        """What it needs of a record beside the record itself, each under a name of its own: over the attributes."""

    def targets(self, deliveries: Column) -> Column:
        """The deliveries of a record, as a text or NULL, with the targets that the operator wants beside them."""

    def takes(self) -> Column:
        """Whether a target is its own (BOOLEAN)."""

    def topic(self) -> Column:
        """STRING."""

    def partition(self) -> Column:
        """INT; NULL where the key decides."""

    def key(self) -> Column:
        """BINARY."""

    def value(self) -> Column:
        """BINARY."""

    def headers(self) -> Column:
        """ARRAY<STRUCT<key: STRING, value: BINARY>>."""

    def size(self) -> Column:
        """The bytes that it takes at most, over the columns before as well (BIGINT)."""
