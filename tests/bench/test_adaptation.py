"""Figure 9: every part of it once, small, and how what is said of mu is judged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import bench.adaptation
import bench.search
from bench.adaptation import KINDS, MUS, NEVER, NUMBERS, TRIGGERS, Shape, threshold_claims
from cli.main import main

Written = Callable[[Path, str], dict[str, Any]]


def test_scaling_keeps_the_ratios() -> None:
    full = bench.adaptation.THRESHOLDS_SHAPE
    assert full.scaled(1) == full
    small = full.scaled(0.001)
    assert small == Shape(10_000, 4, 1_600, 1_000, 200)
    assert (small.length % small.point_tuples, small.period_tuples % small.point_tuples) == (0, 0)


@pytest.mark.nightly
@pytest.mark.usefixtures("one_seed")
def test_every_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: Written) -> None:
    monkeypatch.setattr(bench.search, "QUERIES", (20, 1_000))
    monkeypatch.setattr(bench.search, "REPETITIONS", 1)
    found = CliRunner().invoke(main, ["bench", "adaptation", "--output", str(tmp_path), "--scale", "0.01"])
    assert found.exit_code == 0, found.output
    assert "adaptation-figure-9" in found.output
    assert "seconds to find a sequence" in found.output
    result = written(tmp_path, "adaptation-figure-9")
    runs, parameters = result["results"]["runs"], result["parameters"]
    assert [(run["sequence"], run["mu"]) for run in runs] == [(kind, mu) for kind in KINDS for mu in MUS]
    # Nothing is rearranged at the very end of the stream.
    looks = (parameters["length"] * parameters["sub_streams"] - 1) // parameters["period_tuples"]
    for run in runs:
        count = len(run["rearrangements"])
        assert len(run["points"]) == parameters["length"] * parameters["sub_streams"] // parameters["point_tuples"]
        assert {0.0: looks, NEVER: 0}.get(run["mu"], count) == count
        for event in run["rearrangements"]:
            assert event["trigger"] == "dropping ratio"
            assert event["place"] % parameters["period_tuples"] == 0
            changed = abs(event["current"]["dropping_ratio"] / event["initial"]["dropping_ratio"] - 1)
            assert changed >= run["mu"]
    triggers = written(tmp_path, "adaptation-triggers")["results"]["runs"]
    for run in triggers:
        fired = {event["trigger"] for event in run["rearrangements"]}
        allowed = {"both": {"dropping ratio", "cost"}, "none": set()}.get(run["trigger"], {run["trigger"]})
        assert fired <= allowed
    assert len(triggers) == len(TRIGGERS)
    assert written(tmp_path, "adaptation-search")["parameters"]["queries"] == [20, 1_000]
    # The best order turns round: somewhere the cost trigger must fire, for cost doubles or halves.
    assert any(run["rearrangements"] for run in triggers if run["trigger"] == "cost")


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
        for seed in (1, 2, 3)
    ]


@pytest.mark.parametrize("never", [0, 900])
def test_never_has_no_say_in_what_mu_does(never: int) -> None:
    recovery = dict(zip(MUS, (100, 200, 300, 400, 500, never), strict=True))
    faster, often, *_ = threshold_claims(threshold_runs(recovery, dict.fromkeys(MUS, 3)))
    assert (faster.holds, faster.seeds) == (True, "3 of 3")
    assert faster.verdict == "confirmed"
    shown = ", ".join(f"mu {mu:g}: {count} ± 0" for mu, count in zip(NUMBERS, (100, 200, 300, 400, 500), strict=True))
    assert faster.ours.startswith(f"{shown} tuples to recover;")
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
