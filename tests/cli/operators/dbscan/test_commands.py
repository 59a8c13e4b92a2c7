"""``asc dbscan``."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from cli.main import main

if TYPE_CHECKING:
    from conftest import Asc

QUERY = {"id": "dense", "operator": {"name": "dbscan", "attributes": ["x"], "eps": 1, "min_samples": 2}}
QUERY["operator"] |= {"window_points": 3, "slide_points": 3}  # type: ignore[operator]


def invoke(*arguments: object) -> tuple[int, str, str]:
    ran = CliRunner().invoke(main, ["dbscan", *map(str, arguments)])
    return ran.exit_code, ran.stdout, ran.stderr


def test_a_run_writes_labels_and_prints_a_table(tmp_path: Path) -> None:
    (tmp_path / "q.ndjson").write_text(json.dumps(QUERY), "utf-8")
    (tmp_path / "rows.ddl").write_text("x DOUBLE, n INT", "utf-8")
    (tmp_path / "rows.csv").write_text("x,n\n1,1\n2,1\n9,1\n1,1\n", "utf-8")
    own = ("--queries", tmp_path / "q.ndjson", "--schema", tmp_path / "rows.ddl", "--batch", 2, "--lateness", "10s")
    code, out, err = invoke("run", *own, "--labels", tmp_path / "labels", tmp_path / "rows.csv")
    assert code == 0
    assert err.splitlines()[0] == "warning: dense: slide = window: consecutive windows share no point, so no id lasts"
    assert out.splitlines()[1].split() == ["dense", "1", "0", "3", "1", "1", "3"]
    assert (tmp_path / "labels" / "dense.parquet").is_file()
    code, out, _ = invoke("run", *own, "--json", tmp_path / "rows.csv")
    assert (code, json.loads(out)["queries"]["dense"]["last"]["clusters"]) == (0, 1)


def test_a_run_takes_the_limit_of_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "q.ndjson").write_text(json.dumps(QUERY), "utf-8")
    (tmp_path / "rows.csv").write_text("x,n\n1,1\n2,1\n9,1\n1,1\n", "utf-8")
    stream = '[streams.s]\ntopic = "t"\nformat = "json"\nschema = "x DOUBLE, n INT"\n'
    own = ("--queries", tmp_path / "q.ndjson", "--config", tmp_path / "asc.toml", tmp_path / "rows.csv")
    for points, exit_code in ((3, 0), (2, 1)):
        (tmp_path / "asc.toml").write_text(f"[limits]\nstream_dbscan_points = {points}\n{stream}", "utf-8")
        code, _, err = invoke("run", *own)
        assert code == exit_code, err
    assert "window_points 3: dense: a window has at most 2 points: shorten it" in err


def test_a_refusal_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "q.ndjson").write_text(json.dumps({**QUERY, "where": "z > 3"}), "utf-8")
    (tmp_path / "rows.ddl").write_text("x DOUBLE", "utf-8")
    (tmp_path / "rows.csv").write_text("x\n1\n", "utf-8")
    own = ("--queries", tmp_path / "q.ndjson", "--schema", tmp_path / "rows.ddl")
    code, _, err = invoke("run", *own, tmp_path / "rows.csv")
    assert code == 1
    assert err.startswith("error: query 'dense': line 1 of q.ndjson: unknown column 'z'")
    assert invoke("run", *own, "--batch", 0, tmp_path / "rows.csv")[0] == 2


def test_the_help_says_that_a_point_counts_itself_and_clusters_may_be_small() -> None:
    _, out, _ = invoke("--help")
    text = " ".join(out.split())
    assert "A core point has at least min_samples points within the distance eps, itself included." in text
    assert "so a cluster may have fewer points than min_samples" in text


@pytest.mark.kafka
@pytest.mark.spark
def test_several_queries_are_registered_listed_and_received(asc: Asc, tmp_path: Path) -> None:
    options = ("--attributes", "flight", "--eps", "1,5", "--min-samples", "2", "--window", "10s", "--slide", "5s")
    stream = ("--stream", "flights", "--time", "timestamp_seconds(1700000000 + delay)", "--where", "dest = 'DENSE'")
    wrong = asc("dbscan", "add", "dense", *stream, *options[:2], "--eps", "0,1", *options[4:])
    assert wrong.exit_code == 1
    assert "operator.eps 0: give a radius above 0" in wrong.stderr
    added = asc("dbscan", "add", "dense", *stream, *options)
    assert added.exit_code == 0, added.stderr
    assert added.stdout.startswith("registered 2 queries, dense.1 to dense.2 -> asc.dense, version ")
    again = asc("dbscan", "add", "dense", *stream, *options)
    assert again.exit_code == 1
    assert "'dense.1': is taken, and nothing was registered" in again.stderr
    rows = [{"flight": flight, "delay": 1, "dest": "DENSE"} for flight in (1, 2, 6)]
    send(asc, tmp_path, rows)
    deadline = time.monotonic() + 120
    while len(values := received(asc)) < 4:
        assert time.monotonic() < deadline, (values, asc("status").stdout)
        send(asc, tmp_path, [{"flight": 50, "delay": 100, "dest": "LATER"}])
    windows = {own["query"]: own for own in values if own["record"] == "window"}
    assert {own: (found["clusters"], found["noise"]) for own, found in windows.items()} == {
        "dense.1": (1, 1),
        "dense.2": (1, 0),
    }
    # Their batch tells of them when it is over, which is after they were written.
    deadline = time.monotonic() + 120
    while not {"clusters", "noise", "end"} <= set(
        (listed := asc("query", "list", "--operator", "dbscan").stdout).split()
    ):
        assert time.monotonic() < deadline, listed
        time.sleep(0.2)
    assert len(listed.splitlines()) == 3
    checked = asc("dbscan", "check", "dense", *stream, *options)
    assert "2 queries: dense.1 to dense.2" in checked.stdout, checked.stderr
    for query_id in ("dense.1", "dense.2"):
        assert asc("query", "remove", query_id).exit_code == 0


def send(asc: Asc, folder: Path, rows: list[dict[str, object]]) -> None:
    file = folder / "rows.ndjson"
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    sent = asc("publish", "--stream", "flights", file)
    assert sent.exit_code == 0, sent.stderr


def received(asc: Asc) -> list[dict[str, object]]:
    """The records of the first windows with points of both queries, each once."""
    read = asc("subscribe", "asc.dense", "--exit", "--json")
    values = [json.loads(json.loads(line)["value"]) for line in read.stdout.splitlines()]
    first = min((own["window"] for own in values), default=None)
    return [own for own in values if own["window"] == first]
