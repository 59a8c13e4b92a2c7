"""Verification masks: for each region of a block, the conjuncts of which the region does not decide whether they accept
a tuple.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from asc.frozen import frozen, frozen_int32
from asc.plan.conjuncts import Integers
from asc.plan.construct import Words


@dataclass(frozen=True, slots=True, eq=False)
class VerificationMasks:
    """For each row of a block's matrix, the conjuncts that admit only a part of the row's region.

    ``places`` int32[rows]: the index of the row's mask in ``words`` uint64[doubtful rows, words]; -1 if the row has no
    such conjunct. Invariant: bit j is 1 if and only if the constraint of conjunct j admits a part of the region and not
    all of it. So a conjunct needs no verification if no region that the tuple visited has its bit. A region with no
    such conjunct has no mask, such as each region of a column with few values. Cost: 4 bytes per row, and a row of the
    matrix for each mask.
    """

    places: Integers
    words: Words

    @staticmethod
    def of(dense: Words) -> VerificationMasks:
        """Return the masks of a dense matrix uint64[rows, words] with one mask for each row."""
        some = dense.any(axis=1)
        places = np.where(some, np.cumsum(some) - 1, -1)
        return VerificationMasks(frozen_int32(places), frozen(dense[some]))

    def dense(self) -> Words:
        """Return the masks as a dense matrix uint64[rows, words], with one mask for each row."""
        rows = np.zeros((len(self.places), self.words.shape[1]), dtype=np.uint64)
        rows[self.places >= 0] = self.words
        return rows

    @property
    def nbytes(self) -> int:
        return self.places.nbytes + self.words.nbytes
