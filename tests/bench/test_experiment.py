"""How claims are judged: from the figures alone, in both directions."""

from __future__ import annotations

from bench.experiment import UNSTEADY, at_most, close_to, seeds_in, seeds_of, trend


def test_at_most() -> None:
    held = at_most("a <= b", "Fig. 6", [1.0, 2.0, 3.0], [2.0, 2.0, 2.5], "why")
    assert (held.holds, held.certain, held.seeds, held.evidence) == (True, False, "2 of 3", "")
    refuted = at_most("a <= b", "Fig. 6", [3.0, 2.0, 3.0], [2.0, 2.0, 2.5], "why")
    assert (refuted.holds, refuted.seeds, refuted.evidence) == (False, "1 of 3", "why")
    assert refuted.ours == "2.667 against 2.167 (+23.1 %; difference 0.500 ± 1.242)"
    assert refuted.verdict == "open"


def test_only_what_the_whole_interval_says_is_certain() -> None:
    above = at_most("a <= b", "Fig. 6", [3.0, 3.1, 3.2], [2.0, 2.0, 2.0])
    assert (above.holds, above.certain, above.verdict) == (False, True, "refuted")
    assert at_most("a <= b", "Fig. 6", [2.0, 2.0, 2.0], [3.0, 3.1, 3.2]).verdict == "confirmed"
    # As much in every seed is at most as much.
    assert at_most("a <= b", "Fig. 6", [2.0, 3.0], [2.0, 3.0]).verdict == "confirmed"
    # One seed says nothing of others.
    assert at_most("a <= b", "Fig. 6", [2.0], [3.0]).verdict == "open"


def test_a_full_run_has_all_seeds() -> None:
    assert len(seeds_of(1)) >= 20
    assert seeds_of(0.1) == seeds_of(1)[:3]
    assert seeds_in([{"seed": 2}, {"seed": 1}, {"seed": 2}]) == [2, 1]


def test_close_to_is_told_against_the_figure_itself() -> None:
    held = close_to("Macro <= 1.1 x SEQ_best", "Fig. 6", [16.0, 17.0], [16.0, 15.0], "why")
    assert (held.holds, held.seeds, held.evidence) == (True, "1 of 2", "")
    assert held.ours == "16.500 against 1.1 x 15.500 (+6.5 % above SEQ_best; ratio 1.067 ± 0.847)"
    refuted = close_to("Macro <= 1.1 x SEQ_best", "Fig. 6", [18.0], [16.0], "why")
    assert (refuted.holds, refuted.seeds, refuted.evidence) == (False, "0 of 1", "why")
    assert refuted.ours == "18.000 against 1.1 x 16.000 (+12.5 % above SEQ_best; ratio 1.125 ± 0.000)"
    below = close_to("", "", [15.0], [16.0])
    assert below.ours == "15.000 against 1.1 x 16.000 (6.2 % below SEQ_best; ratio 0.938 ± 0.000)"


def test_trend() -> None:
    rising = ([1.0, 2.0, 3.0], [1.0, 2.0, 4.0])
    falling = ([1.0, 2.0, 3.0], [3.0, 2.5, 2.0])
    both = trend("rises", "Fig. 7", [rising, falling], 1, evidence="why")
    assert (both.holds, both.seeds, both.evidence) == (True, "1 of 2", "")
    assert both.verdict == "open"
    assert trend("falls", "Fig. 7", [falling], -1).holds
    assert trend("falls", "Fig. 7", [falling, falling], -1).verdict == "confirmed"
    assert trend("falls", "Fig. 7", [rising, rising], -1).verdict == "refuted"
    refuted = trend("falls", "Fig. 7", [rising], -1, evidence="why")
    assert (refuted.holds, refuted.seeds, refuted.evidence) == (False, "0 of 1", "why")


def test_a_trend_with_a_step_back_says_so() -> None:
    assert trend("rises", "Fig. 7", [([1.0, 2.0, 3.0], [1.0, 0.5, 4.0])], 1).ours.endswith(UNSTEADY)
    assert not trend("rises", "Fig. 7", [([1.0, 2.0, 3.0], [1.0, 1.5, 4.0])], 1).ours.endswith(UNSTEADY)
