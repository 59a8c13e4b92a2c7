"""Measures of answers: their names, their types, and the functions that compute them from states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from asc.operators.cube.operand import Operand

ESTIMATE = "estimate"
"""The field of a bounded answer by which rows are ordered."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A measure of an answer: its name, its Arrow type, and the slots whose states it is computed from.

    ``compute``: the function that computes the answers, with one array of states for each slot. ``operands``: the
    columns of the declaration, in its order. ``is_integer``: whether the answers, which are decimals in Arrow, are
    shown as integers. ``is_count``: whether the answer over no record is 0. ``overflowing``: a function of the states
    of the first slot, which counts the answers that are NULL because they have over 38 digits. It is None if no answer
    can have so many. ``items_most``: the largest number of items of an answer that is a list.
    """

    name: str
    type: pa.DataType
    slots: tuple[int, ...]
    compute: Callable[..., pa.Array] = field(repr=False)
    operands: tuple[Operand, ...] = ()
    is_integer: bool = False
    is_count: bool = False
    overflowing: Callable[[pa.Array], int] | None = field(default=None, repr=False)
    items_most: int = 1

    def of(self, states: tuple[pa.Array, ...]) -> pa.Array:
        """Return the answer for each cell. ``states``: the states of all slots of the layout."""
        return self.compute(*(states[place] for place in self.slots))

    def overflows(self, states: tuple[pa.Array, ...]) -> int:
        """Return the number of cells whose sum is NULL because it has over 38 digits."""
        return 0 if self.overflowing is None else self.overflowing(states[self.slots[0]])


def bounded_type(estimate: pa.DataType, **sides: pa.DataType) -> pa.DataType:
    """Return the type of an answer with bounds: an estimate, the interval from ``low`` to ``high``, and the confidence
    with which the interval contains the exact value. ``sides``: further fields, which tables show beside the estimate
    in place of ``low`` and ``high``.

    >>> bounded_type(pa.float64()).names
    ['estimate', 'low', 'high', 'confidence']
    """
    own = {ESTIMATE: estimate, "low": estimate, "high": estimate, "confidence": pa.float64()}
    return pa.struct({**own, **sides})


def ordered_type(data_type: pa.DataType) -> pa.DataType | None:
    """Return the type of the values by which rows are ordered and charts are drawn: the answers, or their estimates.
    Return None if the answers have no order.

    >>> ordered_type(pa.int64()), ordered_type(bounded_type(pa.float64())), ordered_type(pa.list_(pa.int64()))
    (DataType(int64), DataType(double), None)
    """
    if not pa.types.is_nested(data_type):
        return data_type
    if pa.types.is_struct(data_type) and data_type.get_field_index(ESTIMATE) >= 0:
        return data_type.field(ESTIMATE).type
    return None


def ordered_values(answers: pa.Array) -> pa.Array:
    """Return the values by which rows are ordered and charts are drawn: the answers, or their estimates."""
    return pc.struct_field(answers, ESTIMATE) if pa.types.is_nested(answers.type) else answers
