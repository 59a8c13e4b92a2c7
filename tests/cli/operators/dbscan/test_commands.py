"""``asc dbscan``."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from cli.main import main

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


def test_a_refusal_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "q.ndjson").write_text(json.dumps({**QUERY, "where": "z > 3"}), "utf-8")
    (tmp_path / "rows.ddl").write_text("x DOUBLE", "utf-8")
    (tmp_path / "rows.csv").write_text("x\n1\n", "utf-8")
    own = ("--queries", tmp_path / "q.ndjson", "--schema", tmp_path / "rows.ddl")
    code, _, err = invoke("run", *own, tmp_path / "rows.csv")
    assert code == 1
    assert err.startswith("error: unknown column 'z'")
    assert invoke("run", *own, "--batch", 0, tmp_path / "rows.csv")[0] == 2


def test_the_help_says_that_a_point_counts_itself_and_clusters_may_be_small() -> None:
    _, out, _ = invoke("--help")
    text = " ".join(out.split())
    assert "min_samples points within eps, itself included; so a cluster may have fewer points than min_samples" in text
