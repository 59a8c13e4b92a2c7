"""Slots of cells: the states that each cell of a cube has. Measures with equal states share a slot."""

from __future__ import annotations

from dataclasses import dataclass

from asc.operators.cube.columns import Columns
from asc.operators.cube.operand import Operand
from asc.operators.cube.states.state import State, Values

SlotKey = tuple[object, ...]
"""The identity of a slot: the kind of the state, its parameters, and the SQL text of its expressions."""


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """A state that each cell has, and the expressions that are folded into the state. For ``count(*)`` there is no
    expression.

    ``key``: equal for two measures that share the state.
    """

    key: SlotKey
    state: State
    operands: tuple[Operand, ...]

    def values(self, columns: Columns) -> Values | None:
        """Return the values that a batch has for the state. Return None if the state counts records."""
        return columns.rows(self.operands, self.state) if self.operands else None


class Slots:
    """The slots of a layout while its measures are read, each numbered by its place.

    Invariant: no two slots have equal keys.
    """

    def __init__(self) -> None:
        self._slots: dict[SlotKey, Slot] = {}
        self._places: dict[SlotKey, int] = {}

    def place(self, key: SlotKey, state: State, operands: tuple[Operand, ...]) -> int:
        """Return the number of the slot with a key. If there is none yet, add it."""
        if key not in self._slots:
            self._places[key] = len(self._slots)
            self._slots[key] = Slot(key, state, operands)
        return self._places[key]

    def all(self) -> tuple[Slot, ...]:
        """Return all slots by ascending number."""
        return tuple(self._slots.values())
