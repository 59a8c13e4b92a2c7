"""What ``asc demo`` does: the comparison it makes, and the whole of it once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter

import pytest

from cli.demo_run import compare, report_text

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
