"""The kind of the measure ``seen``: the set of the values of a cell, and how often each of them occurs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.errors import CubeError
from asc.operators.cube.answered import Answered, bounded_type
from asc.operators.cube.call import Call, Constant
from asc.operators.cube.kinds.kind import Arguments, Kind, row_constants
from asc.operators.cube.states.sizes import checked_stated
from asc.predicate.expressions.types import name as type_name

if TYPE_CHECKING:
    from asc.operators.cube.asked_measure import AskedMeasure
    from asc.operators.cube.measure import Measure
    from asc.operators.cube.operand import Operand
    from asc.operators.cube.slot import Slot, Slots
    from asc.operators.cube.states.seen import Seen

SEEN, FREQUENCY, CONTAINS = "seen", "frequency", "contains"

_TOTALS = pa.struct({"values": pa.int64(), "different": pa.int64(), "chance": pa.float64()})
_FREQUENCY = bounded_type(pa.int64())
_CONTAINS = bounded_type(pa.bool_(), chance=pa.float64(), different=pa.int64())


class SeenValues(Kind):
    """The kind of the measure ``seen(x, n)``, which is sized for n different values a cell, with its question
    functions.

    ``frequency(x, value)`` asks how often a value occurred, and ``contains(x, value)`` whether it occurred. An answer
    of ``contains`` also contains the false-positive chance of the state with its present values, and the number of
    different values.
    """

    def arguments(self, call: Call) -> Arguments:
        """Return the column of a declaration, and the stated number of different values."""
        columns, constants = row_constants(call, 1, 1, f"{SEEN}(x, 1000), with the number of different values a cell")
        try:
            return columns, (checked_stated(constants[0]),)
        except CubeError as error:
            call.fail(error.remedy)

    def questioned(self, call: Call) -> Arguments:
        """Return the column of a question, and the value that the question is about."""
        return row_constants(call, 1, 1, f"{call.function}(x, 'value')")

    def declaration(self, columns: Sequence[str], constants: Sequence[Constant]) -> str:
        """Return a declaration that answers questions about a column, for 1,000 different values a cell."""
        return f"{SEEN}({columns[0]}, 1000)"

    def answered(self, measure: Measure, operands: tuple[Operand, ...], slots: Slots) -> Answered:
        """Return the answer of a declared measure: the numbers of values and of different values, and the
        false-positive chance.
        """
        from asc.operators.cube.operand import is_comparable
        from asc.operators.cube.states.seen import Seen

        (operand,) = operands
        if not is_comparable(operand.type):
            remedy = f"takes plain values, and {measure.columns[0]} is {type_name(operand.type)}: CAST it"
            raise CubeError("measure", measure.call, remedy)
        stated = checked_stated(measure.constants[0])
        state = Seen(stated)
        place = slots.place((SEEN, stated, operand.sql), state, operands)
        return Answered(measure.name, _TOTALS, (place,), partial(_totals, state), operands)

    def asked(self, asked: AskedMeasure, measure: Answered, slots: Sequence[Slot]) -> Answered:
        """Return the answer of a question function about one value. Raise CubeError if the constant is no value of the
        column's type.
        """
        from asc.operators.cube.kinds.question_value import question_value
        from asc.operators.cube.states.seen import hashes_of

        slot = slots[measure.slots[0]]
        state: Seen = slot.state  # type: ignore[assignment]
        kind = slot.operands[0].type
        assert kind is not None
        hashed = hashes_of(question_value(asked.constants[0], kind, asked.text))[0]
        if asked.function == FREQUENCY:
            return Answered(asked.name, _FREQUENCY, measure.slots, partial(_frequencies, state, hashed))
        return Answered(asked.name, _CONTAINS, measure.slots, partial(_sightings, state, hashed))


def _totals(state: Seen, states: pa.Array) -> pa.Array:
    totals = state.totals(states)
    return _struct(_TOTALS, totals.values, totals.different, totals.chances)


def _frequencies(state: Seen, hashed: np.uint64, states: pa.Array) -> pa.Array:
    """Return how often a value occurred: at most ``high`` times and, with the stated confidence, at least ``low``
    times.
    """
    from asc.operators.cube.states.seen import CONFIDENCE

    sightings = state.find(states, hashed)
    chances = state.totals(states, has_values=False).chances
    # In a sparse state, another value may have the same hash.
    exact = np.where(sightings.maybe, 1.0 - chances, 1.0)
    confidences = np.where(sightings.is_exact, exact, CONFIDENCE)
    return _struct(_FREQUENCY, sightings.highs, sightings.lows, sightings.highs, confidences)


def _sightings(state: Seen, hashed: np.uint64, states: pa.Array) -> pa.Array:
    """Return whether a value occurred. The answer false is certain; the answer true has the confidence 1 -
    false-positive chance.
    """
    sightings, totals = state.find(states, hashed), state.totals(states, has_values=False)
    lows = sightings.maybe & sightings.is_exact
    confidences = np.where(sightings.maybe, 1.0 - totals.chances, 1.0)
    bounds = sightings.maybe, lows, sightings.maybe, confidences
    return _struct(_CONTAINS, *bounds, totals.chances, totals.different)


def _struct(kind: pa.DataType, *columns: npt.NDArray[Any]) -> pa.Array:
    arrays = [pa.array(column, field.type) for column, field in zip(columns, kind, strict=True)]
    return pa.StructArray.from_arrays(arrays, fields=list(kind))


KIND = SeenValues()
