"""The values of one record, or of a tuple in its place, for a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from asc.keys.attribute import PAttribute
from broker.formats.dead_letter_reason import DeadLetterReason


@dataclass(frozen=True, slots=True)
class RecordValues:
    """The values (pyarrow scalars) of the p-attributes that were asked for, in that order.

    ``failed``: those that could not be evaluated, and are NULL for it. ``reason``: the reason why the record cannot be
    decoded; the values are undefined then.
    """

    values: Sequence[Any]
    failed: tuple[PAttribute, ...] = ()
    reason: DeadLetterReason | None = None
