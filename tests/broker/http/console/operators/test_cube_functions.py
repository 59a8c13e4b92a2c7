"""Statistics of a cube, and functions of its states: over HTTP, in the console, in commands, and after a backfill."""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

from broker.config.config import Config, parse_config
from cli.main import main
from tests.broker.http.console.operators.test_cube import page, table_of

if TYPE_CHECKING:
    from conftest import Site

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

BEGIN = datetime(2026, 6, 1, tzinfo=timezone.utc)
DDL = "k STRING, x DOUBLE, y DOUBLE, z INT, ts TIMESTAMP"
OPERATOR = {
    "name": "cube",
    "dimensions": [["k"]],
    "measures": ["count(*) AS n", "stddev(x) AS spread", "corr(x, y) AS together", "stats(x, y, z) AS air"],
    "time": "ts",
    "grain_s": 3_600,
    "from": "earliest",
}
Row = dict[str, Any]


def rows_of(seed: int, hour: int, count: int = 200) -> list[Row]:
    draw = np.random.default_rng(seed)
    return [
        {
            "k": "ab"[place % 2],
            "x": None if place % 17 == 0 else float(x),
            "y": float(2 * x + noise),
            "z": place % 5,
            "ts": (BEGIN + timedelta(hours=hour, seconds=place)).isoformat(),
        }
        for place, (x, noise) in enumerate(draw.normal(20, 3, size=(count, 2)))
    ]


@pytest.fixture(scope="module")
def site(site_of: Callable[[Config], Site], kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> Site:
    own = uuid.uuid4().hex[:12]
    checkpoint = str(tmp_path_factory.mktemp("functions") / "checkpoint")
    return site_of(
        parse_config(
            {
                "kafka": {"bootstrap_servers": kafka.bootstrap_servers, "registry_topic": f"registry-{own}"},
                "api": {"port": 0},
                "spark": {"checkpoint_dir": checkpoint, "master": "local[2]", "warm_up_s": 0},
                "streams": {f"json-{own}": {"topic": f"functions-{own}", "format": "json", "schema": DDL}},
            }
        )
    )


@pytest.fixture(scope="module")
def published(site: Site) -> list[Row]:
    """The records of three hours, of which the cube counts two from before its registration."""
    hours = [rows_of(hour, hour) for hour in range(3)]
    for rows in hours[:2]:
        site.publish([json.dumps(row).encode() for row in rows])
        site.drain()
    body = {"id": "spread", "where": "true", "operator": OPERATOR, "topic": site.topic("spread")}
    assert site.client.post("/v1/queries", json=body).status_code == 201
    site.publish([json.dumps(row).encode() for row in hours[2]])
    site.drain()
    rows = [row for own in hours for row in own]
    deadline = time.monotonic() + 120
    while site.client.get("/v1/queries/spread/cube/backfill").json()["phase"] != "done":
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return rows


def asked(site: Site, body: Row, status: int = 200) -> Any:
    found = site.client.post("/v1/queries/spread/cube/query", json=body)
    assert found.status_code == status, found.text
    return found.json()


def columns_of(rows: list[Row], key: str) -> Any:
    """Return the complete rows of a group as an array."""
    whole = [(row["x"], row["y"], row["z"]) for row in rows if row["k"] == key and row["x"] is not None]
    return np.array(whole).T


def test_functions_of_a_state_are_those_of_numpy_after_a_backfill(site: Site, published: list[Row]) -> None:
    measures = ["spread", "corr(z, x)", "regression(y, x, z) AS fit", "bounds(x, 3)", "mean(y)"]
    body = {"by": ["k"], "live": True, "measures": measures, "order": ["corr(z,x) DESC"]}
    found = asked(site, body)
    assert found["whole"] is True
    assert len(found["rows"]) == 2
    for row in found["rows"]:
        x, y, z = columns_of(published, row["group"]["k"])
        assert row["corr(z, x)"] == pytest.approx(np.corrcoef(z, x)[0, 1], rel=1e-9)
        assert row["spread"] == pytest.approx(x.std(ddof=1))
        assert row["mean(y)"] == pytest.approx(y.mean())
        fit = np.linalg.lstsq(np.column_stack((np.ones(len(x)), x, z)), y, rcond=None)[0]
        assert [row["fit"]["intercept"], *row["fit"]["coefficients"].values()] == pytest.approx(fit, rel=1e-8)
        assert row["bounds(x, 3)"]["high"] == pytest.approx(x.mean() + 3 * x.std(ddof=1))
    # Pages of an answer follow by the cursor, and neighbours keep the functions.
    first = asked(site, {**body, "limit": 1})
    rest = asked(site, {**body, "limit": 1, "cursor": first["cursor"]})
    assert [*first["rows"], *rest["rows"]] == found["rows"]
    assert first["roll_up"][0]["measures"] == measures
    other = {**body, "measures": ["spread", "corr(z, y)"], "order": ["spread"], "cursor": first["cursor"]}
    assert "is of another question" in asked(site, other, 400)["error"]["message"]


def test_each_hour_has_its_statistics(site: Site, published: list[Row]) -> None:
    body = {"live": True, "grain_s": 3_600, "measures": ["air", "stddev(x)"], "where": "k = 'a'"}
    rows = asked(site, body)["rows"]
    for row, begin in zip(rows, range(0, 600, 200), strict=True):
        x, _, _ = columns_of(published[begin : begin + 200], "a")
        assert row["air"]["count"] == len(x)
        assert row["stddev(x)"] == row["air"]["columns"]["x"]["stddev"] == pytest.approx(x.std(ddof=1))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"measures": ["corr(x, w)"]}, "measure 'corr(x, w)': needs a state that the cube does not keep: declare"),
        ({"measures": ["median(x)"]}, "measure 'median(x)': has the function 'median', which no question has"),
        ({"measures": ["bounds(x, 0)"]}, "measure 'bounds(x, 0)': has 0 standard deviations"),
        ({"measures": ["n"] * 65}, "measures 65: a question has at most 64: leave some out"),
        ({"order": ["air"]}, "order 'air': has answers without an order"),
    ],
)
def test_a_refused_function_is_told_in_one_line(site: Site, published: list[Row], body: Row, said: str) -> None:
    assert asked(site, body, 400)["error"]["message"].startswith(said)


def test_the_console_shows_statistics_and_asks_functions(site: Site, published: list[Row]) -> None:
    text = page(site, "spread?by=k&live=true")
    assert table_of(text)[0] == ["k", "n", "spread", "together", "air"]
    assert 'list="calls"' in text
    assert "corr(x, y)" in text
    shown = table_of(page(site, "spread?by=k&live=true&call=bounds(x,+3)&order=bounds(x,+3)+DESC"))
    assert shown[0][-1] == "bounds(x, 3)"
    rows = asked(site, {"by": ["k"], "live": True, "measures": ["bounds(x, 3)"], "order": ["bounds(x, 3) DESC"]})[
        "rows"
    ]
    assert [row[0] for row in shown[1:3]] == [row["group"]["k"] for row in rows]
    own = rows[0]["bounds(x, 3)"]
    assert shown[1][-1] == f"{own['estimate']:.6g} {own['low']:.6g} to {own['high']:.6g}"
    across = page(site, "spread?by=&across=k&live=true&call=corr(x,+z)")
    assert "corr(x, z)" in across
    assert re.search(r"<svg", across)
    assert "needs a state that the cube does not keep" in page(site, "spread?call=corr(x,+w)", 400)


def test_commands_show_statistics_and_ask_functions(site: Site, published: list[Row]) -> None:
    assert site.daemon is not None

    url = site.daemon.url

    def output(*words: str) -> str:
        done = CliRunner().invoke(main, [*words, "--server", url], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.stdout

    measures = "corr(x, y), bounds(x, 2) AS middle, n"
    lines = output("cube", "query", "spread", "--by", "k", "--live", "--measures", measures).splitlines()
    assert re.split(r"\s{2,}", lines[0]) == ["k", "corr(x, y)", "middle", "low", "high", "n"]
    assert lines[1].split()[0] == "a"
    assert len(lines[1].split()) == 6
    assert "spread" in output("query", "list", "--operator", "cube")
    assert "air" in output("query", "show", "spread")
