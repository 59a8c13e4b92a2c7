"""The trace of one tuple through a listed block: the conjuncts listed for its value, and those that it satisfies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from asc.evaluation.listed_sweep import CONJUNCT, ListedTuples, own_columns
from asc.evaluation.trace import (
    BlockTrace,
    EliminatedConjunct,
    Eliminations,
    JudgedConjunct,
    Remaining,
    Visit,
    shortened,
)
from asc.evaluation.verdict import Keys, failing_term, value_text
from asc.keys.column import Column
from asc.plan.plan import Plan
from asc.plan.posting_block import ListedBlock
from asc.plan.value_index import ValueIndex

Bits = npt.NDArray[np.int64]

_NO_LOSSES = Eliminations(0, 0, ())


@dataclass(frozen=True, eq=False)
class ListedTrace:
    """The trace of one tuple through one listed block. The numbers of listed blocks follow those of the other blocks.

    ``keys``: the tuple's keys. ``living``: the conjuncts of the block whose queries have not been removed. ``near``:
    those of ``living`` that the index lists for the tuple's value. They require that value, or a shape in the cells
    around the tuple's position. ``satisfied``: the conjuncts of ``near`` that the tuple satisfies.
    """

    plan: Plan
    number: int
    block: ListedBlock
    keys: Keys
    living: Bits
    near: Bits
    satisfied: Bits

    @staticmethod
    def of(plan: Plan, number: int, columns: Sequence[Column], keys: Keys) -> ListedTrace:
        """Return the trace of a tuple, which is the only row of ``columns``. The columns are in the order of the plan's
        slots.
        """
        block = plan.listed[number - len(plan.blocks)]
        slots = {attribute: slot for slot, attribute in enumerate(plan.p_attributes)}
        tuples = ListedTuples.of(block, own_columns(block, [columns[slots[own]] for own in block.attributes]), 0, 1)
        living = np.flatnonzero(plan.ranks[block.table.owner] >= 0)
        near = np.intersect1d(_listed(tuples), living)
        satisfied = np.unique(tuples.conjuncts(plan.ranks) & CONJUNCT)
        return ListedTrace(plan, number, block, keys, living, near, satisfied)

    @property
    def evaluated(self) -> int:
        """The number of constructs visited. It is 1: the look-up in the index of the block counts as one construct."""
        return 1

    @property
    def dropped(self) -> bool:
        """True if the index lists no conjunct for the tuple's value."""
        return not len(self.near)

    @property
    def matching(self) -> npt.NDArray[np.int32]:
        """The handles of the queries that accept the tuple."""
        handles: npt.NDArray[np.int32] = np.unique(self.block.table.owner[self.satisfied])
        return handles

    def block_trace(self, focus: int, listed: int) -> BlockTrace:
        """Return the trace in the form of a trace through a block: as counts and texts. Each step has at most
        ``listed`` conjuncts as examples, first those of the query with the handle ``focus``.
        """
        block = self.block
        name = shortened(str(block.listed))
        visit = Visit(
            attribute=name,
            value=value_text(block.listed, self.keys),
            region=0,
            region_text=f"{len(self.near):,} listed for {'where it is' if block.by_shapes else 'it'}",
            regions=1,
            is_null=self.keys[block.listed] is None,
            exact=False,
            by_arrow=False,
            before=len(self.living),
            after=len(self.near),
            eliminated=self._losses(np.setdiff1d(self.living, self.near), self.near, focus, listed),
        )
        return BlockTrace(
            number=self.number,
            conjuncts=len(self.living),
            sequence=(name,),
            initial_conjuncts=len(self.living),
            patterns=_NO_LOSSES,
            visits=(visit,),
            remaining=Remaining.of(self.plan, self.block.table.owner[self.near], focus, listed),
            verification=self._losses(np.setdiff1d(self.near, self.satisfied), self.satisfied, focus, listed),
            satisfied_conjuncts=len(self.satisfied),
            matching_queries=len(self.matching),
            dropped=self.dropped,
        )

    def eliminated(self, conjunct: JudgedConjunct, place: int) -> JudgedConjunct:
        """Return a conjunct of the verdict, with the cause added if it was eliminated. ``place``: the conjunct's index
        in the block.
        """
        if conjunct.holds:
            return conjunct
        is_near = bool(np.isin(place, self.near))
        by, at = ("verification", None) if is_near else ("construct", 1)
        return JudgedConjunct(conjunct.holds, conjunct.terms, by, at)  # type: ignore[arg-type]

    def _losses(self, gone: Bits, left: Bits, focus: int, listed: int) -> Eliminations:
        owner = self.block.table.owner
        handles = np.setdiff1d(owner[gone], owner[left])
        order = np.lexsort((gone, np.isin(owner[gone], handles, invert=True), owner[gone] != focus))[:listed]
        return Eliminations(
            len(gone), len(handles), tuple(self._eliminated_conjunct(place) for place in gone[order].tolist())
        )

    def _eliminated_conjunct(self, place: int) -> EliminatedConjunct:
        owner = self.block.table.owner
        handle = int(owner[place])
        number = int(np.count_nonzero(owner[: place + 1] == handle))
        term = failing_term(list(self.block.constraints(place)), self.keys)
        return EliminatedConjunct(self.plan.query_ids[int(self.plan.ranks[handle])].as_py(), number, term)


def _listed(tuples: ListedTuples) -> Bits:
    """Return the conjuncts listed for the value of a tuple, the only one of ``tuples``."""
    block = tuples.block
    if isinstance(block.index, ValueIndex):
        own = block.index.conjuncts_for(int(tuples.keys[block.slot, 0]))
        return (own[:0] if tuples.nulls[block.slot, 0] else own).astype(np.int64)
    cell = block.index.cell_keys(tuples.x[block.slot], tuples.y[block.slot])
    shapes = block.index.shapes_around(int(cell[0]))
    listed = [np.arange(block.first[shape], block.first[shape + 1]) for shape in shapes.tolist()]
    return np.concatenate([np.empty(0, dtype=np.int64), *listed])
