"""Every experiment once, at a hundredth of its size, through the command line. Whether a claim of the paper holds is
never asserted: only that it is decided from the results.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bench.adaptive import HYBRID, MACRO, REFINED
from bench.comparison import BEST, CONTENDERS, ROUTING, WORST
from bench.experiment import SEEDS
from cli.main import main


def bench(folder: Path, *arguments: str) -> Result:
    found = CliRunner().invoke(main, ["bench", *arguments, "--output", str(folder), "--scale", "0.01"])
    assert found.exit_code == 0, found.output
    return found


def written(folder: Path, name: str) -> dict[str, Any]:
    """The result, once its plots have been seen to be there."""
    assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (folder / f"{name}.svg").read_text()
    result: dict[str, Any] = json.loads((folder / f"{name}.json").read_text())
    assert result["benchmark"] == name
    assert result["scale"] == 0.01
    assert result["machine"]["cores"] >= 1
    assert result["claims"]
    for claim in result["claims"]:
        assert claim["ours"]
        assert claim["holds"] in (True, False)
        assert not (claim["holds"] and claim["evidence"])
    return result


def check_costs(case: dict[str, Any]) -> None:
    """What holds for any tuples and predicates."""
    costs, explained = case["costs"], case["explained"]
    assert set(costs) == set(CONTENDERS)
    constructs = case["realised"]["p_attributes"]
    matched = 1 - explained["dropped"]
    for cost in costs.values():
        assert matched * constructs <= cost <= constructs
    # The two were found on a sample of these very tuples, and nothing is below what each tuple needs.
    sample = explained["sample_costs"]
    assert explained["exact"]
    assert explained["least"] <= sample[BEST] <= sample[MACRO]
    assert sample[REFINED] <= sample[MACRO]
    assert costs[BEST] <= costs[WORST]


def test_synthetic(tmp_path: Path) -> None:
    output = bench(tmp_path, "synthetic").output
    assert "claims of the paper, and of ours" in output
    for line in output.splitlines():
        assert len(line) < 140
    six = written(tmp_path, "synthetic-figure-6")
    assert six["parameters"]["queries"] == 100
    cases = six["results"]["cases"]
    assert [(case["data_set"], case["seed"]) for case in cases] == [(name, s) for name in ("D1", "D2") for s in SEEDS]
    for case in [*cases, *six["results"]["sensitivity"]]:
        check_costs(case)
    assert {(case["asked"]["queries"], case["asked"]["widest"]) for case in six["results"]["sensitivity"]} == {
        (queries, widest) for queries in (10, 100, 1_000) for widest in (0.2, 0.6)
    }
    close = {f"{data}: {name} <= 1.1 x SEQ_best" for data in ("D1", "D2") for name in (MACRO, HYBRID)}
    assert close <= {claim["claim"] for claim in six["claims"]}
    for case in cases:
        assert set(case["times"]) == {WORST, BEST, MACRO, HYBRID, REFINED}
        assert ROUTING not in case["times"]
    seven = written(tmp_path, "synthetic-figure-7")["results"]["cases"]
    assert sorted({case["attributes"] for case in seven}) == [4, 8, 12, 16, 20]
    for case in seven:
        check_costs(case)
        assert case["realised"]["p_attributes"] == case["attributes"]
    eight = written(tmp_path, "synthetic-figure-8")["results"]["cases"]
    for case in eight:
        assert 0 <= case["micro_ratio"] <= 1
        assert case["relative_cost"] == pytest.approx(case["hybrid_cost"] / case["macro_cost"])


def test_census(tmp_path: Path) -> None:
    bench(tmp_path, "census")
    for name, attributes in (("census-figure-6", {10}), ("census-figure-7", {4, 6, 8, 10})):
        cases = written(tmp_path, name)["results"]["cases"]
        assert {case["attributes"] for case in cases} == attributes
        for case in cases:
            assert case["data_set"] == "D3"
            check_costs(case)


def test_one_figure_as_json(tmp_path: Path) -> None:
    printed = json.loads(bench(tmp_path, "census", "--figure", "7", "--json").stdout)
    assert printed == {"census-figure-7": written(tmp_path, "census-figure-7")}
    assert not (tmp_path / "census-figure-6.json").exists()


def test_adaptation(tmp_path: Path) -> None:
    output = bench(tmp_path, "adaptation").output
    assert "adaptation-figure-9" in output
    assert "seconds to find a sequence" in output
    result = written(tmp_path, "adaptation-figure-9")
    runs, parameters = result["results"]["runs"], result["parameters"]
    # Nothing is rearranged at the very end of the stream.
    looks = (parameters["length"] * parameters["sub_streams"] - 1) // parameters["period_tuples"]
    for run in runs:
        count = len(run["rearrangements"])
        assert len(run["points"]) == parameters["length"] * parameters["sub_streams"] // parameters["point_tuples"]
        assert {0.0: looks, "never": 0}.get(run["mu"], count) == count
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
    searches = written(tmp_path, "adaptation-search")["results"]["cases"]
    assert [(case["queries"], case["seed"]) for case in searches] == [
        (q, s) for q in (100, 1_000, 4_096) for s in SEEDS
    ]
    for case in searches:
        assert (case["realised"]["conjuncts"], case["realised"]["p_attributes"]) == (case["queries"], 20)
        for kind in (MACRO, HYBRID, REFINED):
            assert len(case["runs_s"][kind]) == 5
            assert min(case["runs_s"][kind]) > 0
    # The best order turns round: somewhere the cost trigger must fire, for cost doubles or halves.
    assert any(run["rearrangements"] for run in triggers if run["trigger"] == "cost")


@pytest.mark.parametrize(("name", "figure"), [("synthetic", 7), ("synthetic", 8), ("census", 6)])
def test_another_number_of_queries(tmp_path: Path, name: str, figure: int) -> None:
    bench(tmp_path, name, "--figure", str(figure), "--queries", "37")
    result = written(tmp_path, f"{name}-figure-{figure}")
    assert result["parameters"]["queries"] == 37
    assert {shape["queries"] for shape in result["parameters"]["predicates"].values()} == {37}
    for case in result["results"]["cases"]:
        assert (case["realised"]["queries"], case["realised"]["conjuncts"]) == (37, 37)


def test_a_single_query(tmp_path: Path) -> None:
    bench(tmp_path, "census", "--figure", "7", "--queries", "1")
    for case in written(tmp_path, "census-figure-7")["results"]["cases"]:
        check_costs(case)


@pytest.mark.parametrize(
    "arguments",
    [["census", "--figure", "8"], ["census", "--queries", "0"], ["adaptation", "--scale", "0"]],
)
def test_wrong_use(arguments: list[str]) -> None:
    found = CliRunner().invoke(main, ["bench", *arguments])
    assert found.exit_code == 2
    assert "not in the range" in found.output
