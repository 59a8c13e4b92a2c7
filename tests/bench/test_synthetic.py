"""Figures 6, 7 and 8 on D1 and D2 once, at a hundredth of their size, through the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cli.main import main

Written = Callable[[Path, str], dict[str, Any]]
Check = Callable[[dict[str, Any]], None]


@pytest.mark.nightly
@pytest.mark.usefixtures("one_seed")
def test_every_figure_with_a_number_of_queries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: Written, check_costs: Check
) -> None:
    monkeypatch.setattr("bench.costs.SENSITIVITY_QUERIES", (10,))
    monkeypatch.setattr("bench.micro_arrows.CONCENTRATIONS", (0.0, 1.0))
    monkeypatch.setattr("bench.hybrid_ratios.ATTRIBUTES", (4, 5))
    arguments = ["bench", "synthetic", "--queries", "37", "--output", str(tmp_path), "--scale", "0.01"]
    found = CliRunner().invoke(main, arguments)
    assert found.exit_code == 0, found.output
    assert "claims of the paper, and of ours" in found.output
    for line in found.output.splitlines():
        assert len(line) < 140
    six, seven, eight = (written(tmp_path, f"synthetic-figure-{number}") for number in (6, 7, 8))
    for result in (six, seven, eight):
        assert result["parameters"]["queries"] == 37
        assert {shape["queries"] for shape in result["parameters"]["predicates"].values()} == {37}
        for case in result["results"]["cases"]:
            assert (case["realised"]["queries"], case["realised"]["conjuncts"]) == (37, 37)
    assert [(case["data_set"], case["attributes"]) for case in six["results"]["cases"]] == [("D1", 20), ("D2", 20)]
    for case in [*six["results"]["cases"], *six["results"]["sensitivity"], *seven["results"]["cases"]]:
        check_costs(case)
    assert [case["attributes"] for case in seven["results"]["cases"]] == [4, 8, 12, 16, 20]
    assert [case["concentration"] for case in eight["results"]["cases"]] == [0, 1]
    ratios = written(tmp_path, "synthetic-hybrid-ratios")["results"]["cells"]
    # Numbers of queries of its own, whatever is asked of the figures.
    assert {cell["queries"] for cell in ratios} == {10, 30, 100}


@pytest.mark.usefixtures("one_seed")
def test_the_ratios_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.hybrid_ratios.ATTRIBUTES", (4,))
    arguments = ["bench", "synthetic", "--ratios", "--output", str(tmp_path), "--scale", "0.01"]
    found = CliRunner().invoke(main, arguments)
    assert found.exit_code == 0, found.output
    assert "Hybrid < SEQ_best for every number of queries" in found.output
    assert {path.stem for path in tmp_path.iterdir()} == {"synthetic-hybrid-ratios"}
