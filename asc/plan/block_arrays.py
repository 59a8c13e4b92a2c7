"""Named tuples of the arrays of a block and of its order, as kernels read them.

A kernel is compiled for the dtype, the layout and the mutability of each array. So the arrays of a field always have
the same dtype, layout and mutability.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from asc.frozen import frozen, frozen_int32
from asc.plan.conjuncts import TableArrays
from asc.plan.verification_masks import VerificationMasks

if TYPE_CHECKING:
    from asc.plan.block import Block

Array = npt.NDArray[Any]

# Read-only like the arrays of a block: numba would compile the kernels again for a writable array.
_NO_MASKS = VerificationMasks(frozen_int32(np.empty(0)), frozen(np.empty((0, 0), dtype=np.uint64)))


class BlockArrays(NamedTuple):
    """The arrays of a :class:`asc.plan.block.Block`, without its order.

    ``mask_places``, ``masks``: the verification masks of the block; empty if it has none. ``verifies``: whether
    conjuncts of the block may need verification. If so, and there are no masks, all remaining conjuncts are verified.
    """

    matrix: Array
    groups: Array
    group_words: int
    mask_places: Array
    masks: Array
    verifies: bool
    table: TableArrays

    @staticmethod
    def of(block: Block) -> BlockArrays:
        """Return the arrays of a block."""
        masks = block.verification_masks or _NO_MASKS
        return BlockArrays(
            matrix=block.matrix,
            groups=block.groups,
            group_words=block.group_words,
            mask_places=masks.places,
            masks=masks.words,
            verifies=block.table.has_inexact,
            table=block.table.arguments,
        )


class SequenceArrays(NamedTuple):
    """The macro-sequence of a block, along which several constructs are evaluated at a time.

    ``slots`` int64[m]: the slot of each construct in sequence. ``bases`` int64[m]: the row of the first region of each
    construct. ``constructs``: the number of constructs; m is the next multiple of 4. The arrays are filled up to length
    m with a construct that changes nothing: slot -1, whose regions are all zeros, and row 0, which is the block's
    ``live``.
    """

    slots: Array
    bases: Array
    constructs: int

    @staticmethod
    def of(block: Block) -> SequenceArrays:
        """Return the sequence of a block."""
        constructs = len(block.sequence)
        fill = -constructs % 4 if constructs else 4
        slots = np.append(block.slots[block.sequence], np.full(fill, -1)).astype(np.int64)
        bases = np.append(block.bases[block.sequence].astype(np.int64) + 1, np.zeros(fill, dtype=np.int64))
        return SequenceArrays(slots, bases, constructs)


class HybridArrays(NamedTuple):
    """The hybrid-sequence of a block, along which one construct is evaluated at a time.

    ``slots`` int64[c]: the slot of each construct. ``bases`` int64[c]: the row of the first region of each construct.
    ``sequence`` int32[c] is the macro-sequence. ``arrows`` int32[rows] is the construct that the micro-arrow of each
    row leads to, or -1. The array is empty if there are no micro-arrows.
    """

    slots: Array
    bases: Array
    sequence: Array
    arrows: Array

    @staticmethod
    def of(block: Block) -> HybridArrays:
        """Return the hybrid-sequence of a block."""
        return HybridArrays(
            slots=block.slots.astype(np.int64),
            bases=block.bases.astype(np.int64) + 1,
            sequence=block.sequence,
            arrows=block.arrows,
        )
