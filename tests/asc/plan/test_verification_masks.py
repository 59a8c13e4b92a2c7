"""Verification masks: what is kept of the rows that have some is what was said."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from asc.plan.verification_masks import VerificationMasks

rows = st.lists(st.tuples(*[st.sampled_from([0, 0, 1, 2**63, 2**64 - 1])] * 2), min_size=1, max_size=8)


@given(rows)
def test_what_is_said_is_kept(drawn: list[tuple[int, int]]) -> None:
    dense = np.array(drawn, dtype=np.uint64)
    masks = VerificationMasks.of(dense)
    assert np.array_equal(masks.dense(), dense)
    assert len(masks.words) == sum(any(row) for row in drawn)
    assert [place >= 0 for place in masks.places.tolist()] == [any(row) for row in drawn]
    assert masks.nbytes == 4 * len(drawn) + 16 * len(masks.words)
