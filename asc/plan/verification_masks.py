"""Verification masks: where the regions of a block leave open whether a conjunct is satisfied."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from asc.frozen import frozen, frozen_int32
from asc.plan.conjuncts import Integers
from asc.plan.construct import Words


@dataclass(frozen=True, slots=True, eq=False)
class VerificationMasks:
    """The conjuncts of which a row of a block's matrix admits a part alone, for the rows that have such conjuncts.

    ``places`` int32[rows]: the row of ``words`` uint64[doubtful rows, words] that belongs to each row, -1 where there
    is no doubt. Invariant: bit j is 1 exactly where the constraint of conjunct j admits a part of the region and not
    all of it. So a conjunct that none of a tuple's regions has here needs no verification. Where regions are sharp, as
    of a column with few values, there is nothing to keep or to read. Cost: 4 bytes a row, and a row of the matrix for
    each with a mask.
    """

    places: Integers
    words: Words

    @staticmethod
    def of(dense: Words) -> VerificationMasks:
        """Return the masks said row for row, uint64[rows, words]."""
        some = dense.any(axis=1)
        places = np.where(some, np.cumsum(some) - 1, -1)
        return VerificationMasks(frozen_int32(places), frozen(dense[some]))

    def dense(self) -> Words:
        """Return a copy row for row."""
        rows = np.zeros((len(self.places), self.words.shape[1]), dtype=np.uint64)
        rows[self.places >= 0] = self.words
        return rows

    @property
    def nbytes(self) -> int:
        return self.places.nbytes + self.words.nbytes
