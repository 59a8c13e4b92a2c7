"""The first page."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fastapi.testclient import TestClient

from broker.access.access import Access
from broker.access.audit import Audit
from broker.config.config import parse_config
from broker.config.sections import ApiConfig
from broker.daemon.daemon import Daemon
from broker.http.app import create_app
from broker.http.console.overview import _charts
from broker.queries.change import Remove
from broker.stream.metrics.timeline import Moment
from tests.broker.http.console.page_text import page_text

if TYPE_CHECKING:
    from conftest import Resting


@pytest.mark.kafka
@pytest.mark.spark
def test_every_stream_has_its_figures(
    browse: Callable[[str], TestClient], registered: Callable[..., None], resting: Resting
) -> None:
    registered({"con-late": "n > 5"})
    # Other test modules, which may have run before, leave queries in the shared registry.
    left = [Remove(query.id) for query in resting.registrar().standing if query.stream == resting.stream("csv")]
    resting.permitted.apply(left, "remove").raised()
    page = browse("all").get("/console/").text
    assert "<strong>Ready.</strong>" in page
    for name, stream in resting.streams().items():
        assert f"{name} {stream.config.format} from topic {stream.config.topic}\n" in page_text(page)
    for figure in ("in, records/s", "out, records/s", "lag, records", "latency, half within", "plan version"):
        assert page.count(f"<dt>{figure}</dt>") == 2
    assert page.count("<svg") == 4
    assert 'hx-get="/console/live" hx-trigger="every 5s"' in page
    # What is empty leads on: the other stream has no queries, and none has records.
    other = resting.stream("csv")
    assert f'<a href="/console/query/new?stream={other}">Register one</a>' in page
    assert f"asc publish FILE --stream {other}." in page_text(page)
    assert "Register one" not in browse("reader").get("/console/").text
    # Of a stream, one who does not see all of it is shown nothing that tells of others.
    own = browse("ops").get("/console/").text
    assert resting.stream("csv") not in own
    assert "out, records/s" not in own
    assert "accepted" not in own


def test_a_daemon_that_is_not_ready_says_why(tmp_path: Path) -> None:
    config = parse_config(
        {
            "spark": {"checkpoint_dir": str(tmp_path)},
            "streams": {"s": {"topic": "s", "format": "json", "schema": "n INT"}},
        }
    )
    app = create_app(Daemon(config), Access(), ApiConfig(), Audit())
    client = TestClient(app, base_url="http://127.0.0.1")
    for path in ("/console/", "/console/live"):
        answer = client.get(path)
        assert answer.status_code == 200
        assert "<strong>Not ready.</strong> starting" in answer.text
        assert re.search(r"As of <time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC</time>", answer.text)
    refused = client.get("/console/queries")
    assert refused.status_code == 503
    assert "not ready" in refused.text
    assert "To the overview" in refused.text


def test_a_minute_that_is_not_whole_has_fewer_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    minute = 1_000_000 * 60
    monkeypatch.setattr("broker.http.console.overview.time.time", lambda: minute + 80.0)
    moments = [Moment(minute + 50, records=400), Moment(minute + 60, records=600)]
    rates = str(_charts(moments, minute + 40.0, whole=False)[0])
    # 400 in the 20 seconds since the start, and 600 in the 20 of the minute that runs.
    assert "in: at most 30 records/s, now 30" in rates
    (points,) = re.findall(r'points="([^"]*)"', rates)
    assert len(points.split()) == 2
