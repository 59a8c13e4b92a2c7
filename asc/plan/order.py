"""Orders of a block: the macro-sequence of its constructs, and its micro-arrows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from asc.errors import PlanError
from asc.frozen import frozen_int32
from asc.plan.conjuncts import Integers


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """The order in which tuples visit the constructs of one block: its macro- or hybrid-sequence (section 4 of the
    paper).

    ``sequence`` int32[c]: the macro-sequence. ``arrows`` int32[rows]: for each row of the block's matrix the construct
    that the micro-arrow of the row's region leads to, or -1. The array is empty if the block has no micro-arrow.

    Invariant: ``sequence`` is a permutation of the constructs. Arrows lead from regions (also NULL regions) to
    constructs. An order is valid for all blocks with the same constructs and rows, whatever their conjuncts; :meth:`of`
    checks it once. Arrays are never written. Cost: 4 bytes per construct, and with micro-arrows 4 bytes per row.
    """

    sequence: Integers
    arrows: Integers

    @staticmethod
    def of(
        bases: Integers, rows: int, sequence: Sequence[int], micro_arrows: Iterable[tuple[int, int, int]] = ()
    ) -> Order:
        """Return an order of the constructs of a block. ``bases``: the first row of each construct. ``rows``: the
        number of rows of the block.

        ``micro_arrows``: (construct, region, target construct). A later arrow of a region replaces an earlier one.
        Raise PlanError if the sequence is no permutation of the constructs, or if a micro-arrow has a construct or
        region that the block does not have.

        >>> order = Order.of(np.array([1, 5]), 9, [1, 0], [(0, 2, 1)])
        >>> order.sequence.tolist(), order.arrows.tolist()
        ([1, 0], [-1, -1, -1, -1, 1, -1, -1, -1, -1])
        """
        order = np.array(sequence, dtype=np.int32)
        if sorted(order.tolist()) != list(range(len(bases))):
            raise PlanError("sequence", list(sequence), f"a permutation of the block's {len(bases)} constructs")
        firsts = [*bases.tolist(), rows]
        targets: dict[int, int] = {}
        for construct, region, target in micro_arrows:
            is_there = 0 <= construct < len(bases) and 0 <= target < len(bases)
            if not is_there or not 0 <= region < firsts[construct + 1] - firsts[construct] - 1:
                raise PlanError("micro-arrow", (construct, region, target), "from a region to a construct of the block")
            targets[firsts[construct] + 1 + region] = target
        table = np.full(rows if targets else 0, -1, dtype=np.int32)
        table[list(targets)] = list(targets.values())
        return Order(frozen_int32(order), frozen_int32(table))

    @property
    def macro(self) -> Order:
        """The order without its micro-arrows."""
        return Order(self.sequence, self.arrows[:0])

    @property
    def arrow_count(self) -> int:
        """The number of micro-arrows."""
        return int(np.count_nonzero(self.arrows >= 0))

    def with_constructs(self, count: int, rows: int) -> Order:
        """Return the order after constructs were added to the block. ``count``: the number of added constructs.
        ``rows``: the number of added rows.

        The new constructs come last, without micro-arrows.
        """
        known = len(self.sequence)
        arrows = np.concatenate([self.arrows, np.full(rows, -1)]) if len(self.arrows) else self.arrows
        return Order(
            frozen_int32(np.concatenate([self.sequence, np.arange(known, known + count)])), frozen_int32(arrows)
        )
