"""Figures 6 and 7 on the census once, at a hundredth of their size, through the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bench.census import run
from cli.main import main

Written = Callable[[Path, str], dict[str, Any]]
Check = Callable[[dict[str, Any]], None]


@pytest.mark.nightly
@pytest.mark.usefixtures("two_seeds")
def test_both_figures(tmp_path: Path, written: Written, check_costs: Check) -> None:
    found = CliRunner().invoke(main, ["bench", "census", "--output", str(tmp_path), "--scale", "0.01"])
    assert found.exit_code == 0, found.output
    for name, attributes in (("census-figure-6", [10]), ("census-figure-7", [4, 6, 8, 10])):
        result = written(tmp_path, name)
        assert result["parameters"]["queries"] == 100
        cases = result["results"]["cases"]
        assert [(case["attributes"], case["seed"]) for case in cases] == [(n, s) for n in attributes for s in (1, 2)]
        for case in cases:
            assert case["data_set"] == "D3"
            check_costs(case)


@pytest.mark.usefixtures("one_seed")
def test_a_single_query(tmp_path: Path, check_costs: Check) -> None:
    result = run(scale=0.01, output_dir=tmp_path, figure=7, queries=1)
    assert list(result) == ["census-figure-7"]
    for case in result["census-figure-7"]["results"]["cases"]:
        assert case["realised"]["conjuncts"] == 1
        check_costs(case)
