"""``asc demo``: the comparison it makes, and the whole of it once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter

import pytest
from click.testing import CliRunner

from cli import demo_run
from cli.demo_run import compare, report_text
from cli.main import main

ROW_OF = {"s-0-5": 0, "s-0-6": 1, "s-0-7": 2}


@pytest.mark.parametrize(
    ("sources", "agrees"),
    [
        (["s-0-6", "s-0-5"], True),
        (["s-0-5"], False),
        (["s-0-5", "s-0-7"], False),
        (["s-0-5", "s-0-6", "s-0-6"], False),
        (["s-0-5", "s-0-6", "s-0-8"], False),
        (["s-0-5", "s-0-6", None], False),
    ],
)
def test_a_topic_agrees_only_with_exactly_its_rows(sources: list[str | None], agrees: bool) -> None:
    found = compare([{"source": source} for source in sources], ROW_OF, Counter([0, 1]))
    assert found == {"received": len(sources), "expected": 2, "agrees": agrees}


@pytest.mark.parametrize("as_json", [False, True])
def test_a_topic_that_differs_is_named_and_ends_it_with_1(monkeypatch: pytest.MonkeyPatch, as_json: bool) -> None:
    topics = [
        {
            "query": query_id,
            "where": "n > 1",
            "topic": f"asc.{query_id}",
            **compare([{"source": "s-0-5"}], ROW_OF, rows),
        }
        for query_id, rows in (("late", Counter([0])), ("lost", Counter([0, 1])))
    ]
    report = {
        "agrees": False,
        "topics": topics,
        "shown": {"query": demo_run.SHOWN_QUERY, "records": [], "explanation": ""},
        "throughput": {
            "records": 3,
            "deliveries": 2,
            "publishing_s": 0.1,
            "until_last_delivery_s": 0.2,
            "records_per_s_with_first_batch": 15,
        },
    }
    monkeypatch.setattr(demo_run, "run_demo", lambda: report)
    result = CliRunner().invoke(main, ["demo", "--json"] if as_json else ["demo"])
    assert result.exit_code == 1
    if as_json:
        assert json.loads(result.stdout) == report
        return
    rows = {line.split()[0]: line.split()[1:4] for line in result.stdout.splitlines() if line.startswith("asc.")}
    assert rows["asc.late"] == ["1", "1", "yes"]
    assert rows["asc.lost"] == ["1", "2", "no"]
    assert result.stdout.splitlines()[-1].startswith("FAILED: not every topic holds exactly")


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.kafka
def test_the_demo_agrees_with_the_filter() -> None:
    code = "from cli.main import main\nmain(['demo', '--json'])"
    with_token = {**os.environ, "ASC_TOKEN": "of-another-daemon"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=with_token)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["agrees"]
    assert len(report["topics"]) >= 12
    assert all(topic["received"] == topic["expected"] > 0 for topic in report["topics"])
    assert report["shown"]["records"]
    assert report["shown"]["explanation"]
    assert report["throughput"]["records"] == 20_000
    assert "first batch included" in report_text(report)
