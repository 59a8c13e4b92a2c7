"""Sketches of quantiles: ``quantiles(x)``, and the questions about ranks and values that they answer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import pyarrow as pa

from asc.errors import CubeError
from asc.operators.cube.answered import Answered
from asc.operators.cube.call import Call, Constant, constant_text
from asc.operators.cube.kinds.kind import Arguments, Kind, row_constants
from asc.predicate.expressions.types import name as type_name

if TYPE_CHECKING:
    from asc.operators.cube.asked_measure import AskedMeasure
    from asc.operators.cube.measure import Measure
    from asc.operators.cube.operand import Operand
    from asc.operators.cube.slot import Slot, Slots
    from asc.operators.cube.states.quantiles import Quantiles

QUANTILES, QUANTILE, RANK, CDF, PMF, DENSITY = "quantiles", "quantile", "rank", "cdf", "pmf", "density"
K_LEAST, K_DEFAULT, K_MOST = 20, 200, 4000
"""The least, the default and the largest value of the parameter k of a sketch."""
POINTS_MOST = 100
"""The largest number of values in one call of ``cdf``, ``pmf`` or ``density``."""

_FORMS = {
    QUANTILE: "quantile(x, 0.5)",
    RANK: "rank(x, 20)",
    CDF: "cdf(x, 10, 20)",
    PMF: "pmf(x, 10, 20)",
    DENSITY: "density(x, 10, 20)",
}


class QuantileSketches(Kind):
    """The kind of the measure ``quantiles``, with the question functions that read its sketches."""

    def arguments(self, call: Call) -> Arguments:
        """Return the column of a declaration, and the constant ``k`` if the declaration contains it."""
        if len(call.arguments) < 2:
            return super().arguments(call)
        columns, (k,) = row_constants(call, 1, 1, f"quantiles(x) or quantiles(x, {K_DEFAULT})")
        if not isinstance(k, int) or isinstance(k, bool) or not K_LEAST <= k <= K_MOST:
            call.fail(f"has k {constant_text(k)}: give a whole number from {K_LEAST} to {K_MOST:,}")
        return columns, (k,)

    def questioned(self, call: Call) -> Arguments:
        """Return the column and the constants of a question function. The constant of ``quantile`` is a rank; the
        constants of the other functions are values.
        """
        form = _FORMS[call.function]
        is_list = call.function in (CDF, PMF, DENSITY)
        count = len(call.arguments) - 1 if is_list else 1
        columns, constants = row_constants(call, 1, max(count, 1), form)
        for constant in constants:
            if isinstance(constant, bool | str):
                call.fail(f"has {constant_text(constant)}, which is no number: write {form}")
        if call.function == QUANTILE and not 0 <= constants[0] <= 1:  # type: ignore[operator]
            call.fail(f"has the rank {constant_text(constants[0])}: give one from 0 to 1, as 0.5 for the median")
        if len(constants) > POINTS_MOST:
            call.fail(f"has {len(constants)} values: give at most {POINTS_MOST}")
        if call.function == PMF and any(low >= high for low, high in pairwise(constants)):  # type: ignore[operator]
            call.fail("has bounds that do not ascend: write each larger than the one before")
        return columns, constants

    def examples(self, measure: Measure) -> Sequence[str]:
        """Return examples of calls about the column of a sketch."""
        (column,) = measure.columns
        return f"quantile({column}, 0.99)", f"rank({column}, 0)", f"pmf({column}, 0)"

    def declaration(self, columns: Sequence[str], constants: Sequence[Constant]) -> str:
        """Return the declaration that answers questions about a column."""
        return f"{QUANTILES}({columns[0]})"

    def answered(self, measure: Measure, operands: tuple[Operand, ...], slots: Slots) -> Answered:
        """Return the answer: the median, and the number, minimum and maximum of the values. Raise CubeError if they are
        no numbers.
        """
        from asc.operators.cube.states.quantile_answers import SUMMARY_TYPE, summaries
        from asc.operators.cube.states.quantiles import Quantiles

        (operand,) = operands
        if not _is_number(operand.type):
            remedy = f"takes numbers, and {measure.columns[0]} is {type_name(operand.type)}: CAST it"
            raise CubeError("measure", measure.call, remedy)
        k = int(measure.constants[0]) if measure.constants else K_DEFAULT
        state = Quantiles(k)
        place = slots.place((QUANTILES, k, operand.sql), state, operands)
        return Answered(measure.name, SUMMARY_TYPE, (place,), partial(summaries, state), operands)

    def asked(self, asked: AskedMeasure, measure: Answered, slots: Sequence[Slot]) -> Answered:
        """Return the answer of a question function, computed from the sketches of a measure."""
        from asc.operators.cube.states import quantile_answers

        state: Quantiles = slots[measure.slots[0]].state  # type: ignore[assignment]
        values = [float(constant) for constant in asked.constants]
        if asked.function in (QUANTILE, RANK):
            compute, kind = {
                QUANTILE: (quantile_answers.quantiles, quantile_answers.QUANTILE_TYPE),
                RANK: (quantile_answers.ranks, quantile_answers.RANK_TYPE),
            }[asked.function]
            return Answered(asked.name, kind, measure.slots, partial(compute, state, values[0]))
        compute_all = {
            CDF: quantile_answers.shares,
            PMF: quantile_answers.masses,
            DENSITY: quantile_answers.density,
        }[asked.function]
        answer = partial(compute_all, state, values)
        return Answered(asked.name, quantile_answers.LIST_TYPE, measure.slots, answer, items_most=len(values) + 1)


def _is_number(kind: pa.DataType | None) -> bool:
    types = pa.types
    return kind is not None and (types.is_floating(kind) or types.is_integer(kind) or types.is_decimal(kind))


KIND = QuantileSketches()
