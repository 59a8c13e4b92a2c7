"""The layout of the console's pages, measured in Chromium: no word is broken, and nothing is wider than its place."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from broker.config.config import Config, parse_config
from broker.http.server import ApiServer
from tests.broker.http.console.layout import WIDTHS, faults_of

if TYPE_CHECKING:
    from conftest import Resting, Site
    from playwright.sync_api import Browser

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

LONG = f"con-{'W' * 190}"
"""An id of 194 characters, each as wide as they are."""

WORD = "x" * 400
LABELS = {"team": "operations", "of-" + "k" * 190: "v" * 300, "note": "several words of a label"}
WHERE = f"n > 5 AND s = '{WORD}' AND d BETWEEN 1 AND 100000"


def pages_of(stream: str, topic: str, offset: int, *, has_queries: bool = True) -> dict[str, str]:
    """The addresses of pages, each with a text on it, for a stream with a record, and with the query LONG or none."""
    always = {
        "/console/": "Ready.",
        f"/console/query/new?stream={stream}&where={quote(WHERE)}": "It would",
        f"/console/plan?stream={stream}": "Blocks",
        f"/console/trace?stream={stream}": "Follow it",
        f"/console/dead-letters?stream={stream}": "The last ones",
        f"/console/queries/{LONG}x": "Not found",
    }
    if not has_queries:
        return {**always, "/console/queries": "No query is registered."}
    return {
        **always,
        "/console/queries?order=accepted": "queries, in",
        f"/console/queries?text={WORD}": "1 found among",
        f"/console/queries/{LONG}": "In the plan",
        f"/console/query/edit/{LONG}": "It would",
        f"/console/plan/{stream}/0": "Sequence",
        f"/console/trace?source={topic}-0-{offset}&query={LONG}": "The terms of",
    }


@pytest.fixture
def address(resting: Resting, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Return the address of the console of a daemon without jobs."""
    monkeypatch.delenv("ASC_TOKEN", raising=False)
    server = ApiServer(resting.config, resting)
    yield server.start()
    server.stop()


def test_no_word_is_broken_and_nothing_is_wider_than_its_place(
    chromium: Browser,
    address: str,
    resting: Resting,
    registered: Callable[..., None],
    send_to: Callable[..., str],
) -> None:
    name = resting.stream("json")
    registered({LONG: WHERE, "con-errs": "n > 1"}, topic=f"asc.{LONG}", labels=LABELS)
    registered({f"con-{number:02}": f"n = {number}" for number in range(60)}, topic="con-out", paused=True)
    stream = resting.streams()[name]
    place = send_to(stream.config.topic, json.dumps({"n": 6, "s": WORD, "d": 2}).encode())
    send_to(f"asc.{LONG}", b'{"n": 6}', headers=[("asc-query", LONG.encode()), ("asc-source", place.encode())])
    reason = [("asc-error", f"column '{'c' * 190}' is no INT".encode()), ("asc-source", place.encode())]
    send_to(stream.dead_letter_topic, WORD.encode(), headers=reason)
    page = chromium.new_page(color_scheme="dark")
    found: list[str] = []
    pages = pages_of(name, stream.config.topic, int(place.rpartition("-")[2]))
    for path, awaited in pages.items():
        # Others have their parts: nightly runs look at all.
        if not any(part in path for part in ("/edit/", "?text=", "/trace?stream=")):
            found += faults_of(page, f"{address}{path}", awaited, (360, 961, 1400))
    page.close()
    assert found == []


def long_config(kafka: EmbeddedKafka, folder: Path) -> Config:
    """A daemon of a stream whose names are as long as they may be."""
    return parse_config(
        {
            "kafka": {"bootstrap_servers": kafka.bootstrap_servers, "registry_topic": "r" * 240},
            "api": {"port": 0},
            "spark": {"checkpoint_dir": str(folder / "checkpoint"), "master": "local[2]", "warm_up_s": 0},
            "streams": {
                "s" * 100: {"topic": "t" * 230, "format": "json", "schema": "n INT, s STRING, d DOUBLE"},
            },
        }
    )


@pytest.fixture(scope="module")
def long_site(
    kafka: EmbeddedKafka, site_of: Callable[[Config], Site], tmp_path_factory: pytest.TempPathFactory
) -> Site:
    return site_of(long_config(kafka, tmp_path_factory.mktemp("long-site")))


def numbered(queries: int) -> list[dict[str, Any]]:
    """So many queries: the first with long names, some paused, some of a kind of their own."""
    long = {"id": LONG, "where": WHERE, "topic": f"asc.{LONG}", "labels": LABELS}
    others = [
        {
            "id": f"con-{number:04}",
            "where": f"n > {number} AND s = 'Oslo'",
            "topic": "con-out",
            "labels": {"team": "ops", "tier": str(number % 3)},
            "paused": number % 7 == 0,
            "expires_at": "2099-01-31T12:00:00Z",
        }
        for number in range(queries - 1)
    ]
    return [long, *others][:queries]


@pytest.mark.nightly
@pytest.mark.parametrize("queries", [0, 12, 1_014])
def test_no_page_is_too_wide_at_any_width_in_either_theme(chromium: Browser, long_site: Site, queries: int) -> None:
    site, (name, stream) = long_site, next(iter(long_site.config.streams.items()))
    assert site.daemon is not None
    if queries:
        assert site.bulk(numbered(queries)).status_code == 200
    values = [json.dumps({"n": n, "s": WORD if n % 2 else "Oslo", "d": n / 3}).encode() for n in range(20)]
    offset = site.publish([*values, WORD.encode()])[7]
    site.drain()
    found: list[str] = []
    for scheme in ("light", "dark"):
        page = chromium.new_page(color_scheme="light" if scheme == "light" else "dark")
        pages = pages_of(name, stream.topic, offset, has_queries=queries > 0)
        for path, awaited in pages.items():
            found += faults_of(page, f"{site.daemon.url}{path}", awaited, WIDTHS)
        page.close()
    assert found == []
