"""How claims are judged: from the figures alone, in both directions."""

from __future__ import annotations

from bench.experiment import UNSTEADY, at_most, close_to, trend


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
