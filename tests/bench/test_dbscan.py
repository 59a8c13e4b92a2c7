"""The benchmark of DBSCAN queries: one row of it, and nightly all, at sizes that measure nothing."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import pytest

import bench.dbscan
from asc.errors import AscError
from asc.predicate import normalise
from asc.schema import Schema
from bench.dbscan import PARTS, RATIO_ROWS, ratio_row
from bench.dbscan_goals import NOT_RUN
from bench.dbscan_own import SELECTION, TIME, TRACK, observation_texts
from bench.dbscan_paper import CASES
from bench.dbscan_peers import missing, versions
from bench.dbscan_sizes import QUICK_RATIOS
from broker.operators.feed_destination import hashed, selection_of
from cli.bench import bench as commands


def test_the_command_offers_the_parts() -> None:
    (option,) = (own for own in commands.commands["dbscan"].params if own.name == "part")
    assert tuple(getattr(option.type, "choices", ())) == PARTS


def test_a_row_gives_the_figures_of_its_goals() -> None:
    row = ratio_row("thousand", QUICK_RATIOS, None)
    assert [own["stream"] for own in row["results"]] == ["simulated aircraft", "100 made heaps"]
    assert all(own["variation"] >= 5 for own in row["results"])
    installed = dict.fromkeys(versions(), "1")
    found = bench.dbscan.figures({"versions": installed, "ratios": {"thousand": row}})
    peers = {"thousand-sklearn": "scikit-learn", "thousand-dbscan": "dbscan 1.0"}
    assert found.keys() == {name for name, peer in peers.items() if missing(peer) is None}
    slowest = min(own["slide_s"]["scikit-learn"] / own["slide_s"]["asc"] for own in row["results"])
    assert found["thousand-sklearn"] == pytest.approx(slowest)


def test_a_message_is_one_of_a_daemon() -> None:
    text = observation_texts(np.array([[5.0821571429, 46.9532470703]] * 2))[1]
    plain = json.loads(text)
    assert list(plain) == ["v", "w", "op", "t", "k", "e", "x", "p", "o", "s"]
    assert datetime.fromtimestamp(plain["e"] / 1_000_000, timezone.utc).year == 2026
    assert plain["o"] >= 1_000_000
    assert len(plain["w"]) == len(plain["t"]) == len(TRACK) == len(TIME) == len(hashed(["any"]))
    selection = selection_of(normalise("n > 3", Schema.from_ddl("n INT")))
    assert plain["s"] == [SELECTION]
    assert len(SELECTION) == len(selection)
    assert ratio_row("sizes", QUICK_RATIOS, None)["message_bytes"] == pytest.approx(len(text), abs=20)


def test_a_goal_says_why_it_has_no_figure() -> None:
    installed = {**dict.fromkeys(versions(), "1"), "hdbscan": None}
    assert bench.dbscan.figures({"versions": installed, "ratios": {}}) == {
        "settings-hdbscan": "hdbscan was not installed",
    }


def test_a_figure_is_of_one_part(tmp_path: Path) -> None:
    with pytest.raises(AscError, match="is of part paper"):
        bench.dbscan.run(quick=True, part="ratios", figure=18, data=None, output_dir=tmp_path)


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_one_figure_leaves_a_file_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    result = bench.dbscan.run(quick=True, part=None, figure=31, data=None, output_dir=folder)
    names = {path.name for path in folder.iterdir()}
    assert names == {"dbscan-figure-31.json", "dbscan-figure-31-32.png", "dbscan-figure-31-32.svg"}
    assert list(result["paper"]) == ["scale"]
    assert "| processor time, from 10 to 20 queries | x 33 |" in bench.dbscan.table(result)


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.timeout(1_800)
def test_every_part_is_measured(tmp_path: Path) -> None:
    result = bench.dbscan.run(quick=True, part=None, figure=None, data=None, output_dir=tmp_path)
    assert result == json.loads((tmp_path / "dbscan.json").read_text("utf-8"))
    assert list(result["ratios"]) == list(RATIO_ROWS)
    assert list(result["paper"]) == list(CASES)
    assert result["ratios"]["sizes"]["message_bytes"] <= 200
    assert set(result["threads"].values()) == {"1"}
    assert len(result["claims"]) >= 10
    text = bench.dbscan.table(result)
    assert text.startswith("sizes that measure nothing")
    # Of fewer queries than a whole run has.
    assert text.count(NOT_RUN) == len({"scale-100", "scale-1000"})
    assert result["served"]["windows"] > 0 < result["served"]["rate"]
