"""The values of one record, or of a tuple that replaces a record, for the p-attributes of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from asc.keys.attribute import PAttribute
from broker.formats.dead_letter_reason import DeadLetterReason


@dataclass(frozen=True, slots=True)
class RecordValues:
    """The values (pyarrow scalars) of requested p-attributes, in the order of the request.

    ``failed``: the p-attributes whose evaluation failed, so that their value is NULL. ``reason``: the reason why the
    record cannot be decoded; the values are then undefined.
    """

    values: Sequence[Any]
    failed: tuple[PAttribute, ...] = ()
    reason: DeadLetterReason | None = None
