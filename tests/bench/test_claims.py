"""How claims are decided: from the figures alone, in both directions."""

from __future__ import annotations

from typing import Any

import pytest

from bench.adaptation import KINDS, MUS, threshold_claims
from bench.experiment import SEEDS, UNSTEADY, at_most, close_to, trend


def test_at_most() -> None:
    held = at_most("a <= b", "Fig. 6", [1.0, 2.0, 3.0], [2.0, 2.0, 2.5], "why")
    assert (held.holds, held.seeds, held.evidence) == (True, "2 of 3", "")
    refuted = at_most("a <= b", "Fig. 6", [3.0, 2.0, 3.0], [2.0, 2.0, 2.5], "why")
    assert (refuted.holds, refuted.seeds, refuted.evidence) == (False, "1 of 3", "why")
    assert refuted.ours == "2.667 against 2.167 (+23.1 %)"


def test_close_to_is_told_against_the_figure_itself() -> None:
    held = close_to("Macro <= 1.1 x SEQ_best", "Fig. 6", [16.0, 17.0], [16.0, 15.0], "why")
    assert (held.holds, held.seeds, held.evidence) == (True, "1 of 2", "")
    assert held.ours == "16.500 against 1.1 x 15.500 (+6.5 % above SEQ_best)"
    refuted = close_to("Macro <= 1.1 x SEQ_best", "Fig. 6", [18.0], [16.0], "why")
    assert (refuted.holds, refuted.seeds, refuted.evidence) == (False, "0 of 1", "why")
    assert refuted.ours == "18.000 against 1.1 x 16.000 (+12.5 % above SEQ_best)"
    assert close_to("", "", [15.0], [16.0]).ours == "15.000 against 1.1 x 16.000 (6.2 % below SEQ_best)"


def test_trend() -> None:
    rising = ([1.0, 2.0, 3.0], [1.0, 2.0, 4.0])
    falling = ([1.0, 2.0, 3.0], [3.0, 2.5, 2.0])
    both = trend("rises", "Fig. 7", [rising, falling], 1, evidence="why")
    assert (both.holds, both.seeds, both.evidence) == (True, "1 of 2", "")
    assert trend("falls", "Fig. 7", [falling], -1).holds
    refuted = trend("falls", "Fig. 7", [rising], -1, evidence="why")
    assert (refuted.holds, refuted.seeds, refuted.evidence) == (False, "0 of 1", "why")


def test_a_trend_with_a_step_back_says_so() -> None:
    assert trend("rises", "Fig. 7", [([1.0, 2.0, 3.0], [1.0, 0.5, 4.0])], 1).ours.endswith(UNSTEADY)
    assert not trend("rises", "Fig. 7", [([1.0, 2.0, 3.0], [1.0, 1.5, 4.0])], 1).ours.endswith(UNSTEADY)


def threshold_runs(recovery: dict[float | str, int], fired: dict[float | str, int]) -> list[dict[str, Any]]:
    """Runs of Figure 9: tuples to recover by mu, and for how many seeds each mu rearranged."""
    return [
        {
            "sequence": kind,
            "mu": mu,
            "seed": seed,
            "recovery_tuples": [recovery[mu], None, recovery[mu]],
            "rearrangements": [{"current": {"dropping_ratio": 0.5}, "initial": {"dropping_ratio": 0.4}}]
            * (fired[mu] >= seed),
        }
        for kind in KINDS
        for mu in MUS
        for seed in SEEDS
    ]


@pytest.mark.parametrize("never", [0, 900])
def test_never_has_no_say_in_what_mu_does(never: int) -> None:
    recovery = dict(zip(MUS, (100, 200, 300, 400, 500, never), strict=True))
    faster, often, *_ = threshold_claims(threshold_runs(recovery, dict.fromkeys(MUS, 3)))
    assert (faster.holds, faster.seeds) == (True, "3 of 3")
    assert faster.ours.startswith("mu 0: 100, mu 0.02: 200, mu 0.05: 300, mu 0.1: 400, mu 0.2: 500 tuples to recover;")
    assert not often.holds
    assert "changed by 25.0% at most" in often.evidence


def test_a_trend_that_rests_on_a_mu_that_hardly_rearranged_is_told() -> None:
    recovery = dict(zip(MUS, (130, 120, 110, 100, 500, 500), strict=True))
    fired = dict(zip(MUS, (3, 3, 3, 3, 1, 0), strict=True))
    faster = threshold_claims(threshold_runs(recovery, fired))[0]
    assert faster.holds
    assert "mu 0.1 for 3 of 3 seeds, mu 0.2 for 1 of 3 seeds; over those alone" in faster.ours
    assert faster.ours.endswith("refuted, holds for 0 of 3")


def test_a_mu_that_never_rearranged_is_not_among_those_that_did() -> None:
    fired = dict(zip(MUS, (3, 3, 0, 0, 0, 0), strict=True))
    faster = threshold_claims(threshold_runs(dict.fromkeys(MUS, 100), fired))[0]
    assert "rearranged at all: mu 0 for 3 of 3 seeds, mu 0.02 for 3 of 3 seeds;" in faster.ours
    assert not faster.holds
