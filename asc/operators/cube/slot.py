"""Slots: the states that each cell of a cube stores. Measures with equal states share a slot."""

from __future__ import annotations

from dataclasses import dataclass

from asc.operators.cube.columns import Columns
from asc.operators.cube.operand import Operand
from asc.operators.cube.states.state import State, Values

SlotKey = tuple[object, ...]
"""The identity of a slot: the name of the state, its parameters, and the SQL texts of its expressions."""


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """A state that each cell stores, and the expressions whose values are folded into the state; none for ``count(*)``.

    ``key``: two measures share the slot if their states have equal keys.
    """

    key: SlotKey
    state: State
    operands: tuple[Operand, ...]

    def values(self, columns: Columns) -> Values | None:
        """Return the values of a batch in the form that the state reads. Return None if the state counts records."""
        return columns.rows(self.operands, self.state) if self.operands else None


class Slots:
    """The slots of a layout, collected while its measures are read. A slot has the number of slots before it.

    Invariant: no two slots have equal keys.
    """

    def __init__(self) -> None:
        self._slots: dict[SlotKey, Slot] = {}
        self._places: dict[SlotKey, int] = {}

    def place(self, key: SlotKey, state: State, operands: tuple[Operand, ...]) -> int:
        """Return the number of the slot with a key. If no slot has the key, add one."""
        if key not in self._slots:
            self._places[key] = len(self._slots)
            self._slots[key] = Slot(key, state, operands)
        return self._places[key]

    def all(self) -> tuple[Slot, ...]:
        """Return all slots by ascending number."""
        return tuple(self._slots.values())
