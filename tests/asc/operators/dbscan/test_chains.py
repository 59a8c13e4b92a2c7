"""Chains of settings."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from asc.operators.dbscan.chains import STEPS, Step, chains_of

steps = st.lists(st.builds(Step, st.integers(0, 9), st.integers(1, 9), st.integers(0, 9)), max_size=40)


@given(own=steps)
def test_each_step_is_in_one_chain_after_more_restricted_ones(own: list[Step]) -> None:
    chains = chains_of(own)
    assert sorted(place for chain in chains for place in chain) == list(range(len(own)))
    for chain in chains:
        for before, after in pairwise(own[place] for place in chain):
            assert before.rank <= after.rank
            assert before.least >= after.least
            assert before.first >= after.first


def test_many_settings_are_few_chains() -> None:
    random = np.random.default_rng(0)
    own = [Step(rank, *random.integers((2, 0), (31, 9)).tolist()) for rank in range(1_000)]
    assert len(chains_of(own)) < 250
    assert [len(own) for own in chains_of([Step(rank, 5, 0) for rank in range(600)])] == [STEPS, STEPS, 600 - 2 * STEPS]
