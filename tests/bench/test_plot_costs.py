"""The plots of Figures 6 and 7: a style for every contender, and one seed is enough."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench.comparison import CONTENDERS, ROUTING
from bench.plot_costs import STYLES, plot_by_attributes, plot_by_data_set


def case(data_set: str, attributes: int, seed: int) -> dict[str, Any]:
    costs = {name: 3.0 + number + seed for number, name in enumerate(CONTENDERS)}
    times = {name: {"executor": 50.0} for name in CONTENDERS if name != ROUTING}
    return {"data_set": data_set, "attributes": attributes, "seed": seed, "costs": costs, "times": times}


def test_every_contender_has_a_style_of_its_own() -> None:
    assert set(STYLES) == set(CONTENDERS)
    for place in (1, 2):
        assert len({style[place] for style in STYLES.values()}) == len(STYLES)


@pytest.mark.parametrize("seeds", [(1,), (1, 2)])
def test_both_plots_name_every_contender(tmp_path: Path, seeds: tuple[int, ...]) -> None:
    by_data_set = [case(name, 20, seed) for name in ("D1", "D3") for seed in seeds]
    by_attributes = [case("D2", attributes, seed) for attributes in (8, 4) for seed in seeds]
    assert plot_by_data_set({"results": {"cases": by_data_set}}, tmp_path / "six")
    assert plot_by_attributes({"results": {"cases": by_attributes}}, tmp_path / "seven")
    six, seven = ((tmp_path / f"{name}.svg").read_text("utf-8") for name in ("six", "seven"))
    for label, _, _ in STYLES.values():
        assert f"<!-- {label} -->" in six
        assert f"<!-- {label} -->" in seven
    assert "<!-- D3: census -->" in six
    assert "D2: skewed, correlated (mu = 0)" in seven
