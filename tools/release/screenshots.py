"""``python -m tools.release.screenshots``: take the documentation's screenshots of the console, with a stream of
flights.

It takes some six minutes, because the charts of an hour need data of some minutes. It requires the system's Chromium.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

import httpx

from broker.config.config import Config, parse_config
from broker.daemon.daemon import Daemon
from tools.release.errors import ReleaseError
from workloads.flights import QUERIES, SCHEMA, sample_path

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")

_WIDTH, _HEIGHT = 1280, 860
_SETTLED_MS = 1_500
"""The wait in milliseconds for the content that a page requests after it has loaded."""

_WAVES, _WAVE_S = 20, 15.0
_DESTINATIONS = ("ATL", "BOS", "DEN", "DFW", "IAH", "LAX", "MCO", "MIA", "ORD", "SFO")


def main(arguments: Sequence[str] | None = None) -> int:
    """Take the screenshots, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.release.screenshots", description="Pictures of the console.")
    parser.add_argument("--out", type=Path, default=IMAGES, help="folder of the pictures (default: docs/images)")
    options = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory(prefix="asc-screenshots-") as folder:
            daemon = Daemon(_config(Path(folder)))
            try:
                daemon.start()
                pages = _with_flights(daemon)
                shoot(daemon.url, pages, options.out)
            finally:
                daemon.stop()
    except ReleaseError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def shoot(url: str, pages: Mapping[str, str], out: Path) -> None:
    """Write a screenshot of each page (name and path) in each colour scheme, as ``console-NAME-SCHEME.png``. Raise
    ReleaseError if Chromium is missing.
    """
    from playwright.sync_api import sync_playwright

    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        raise ReleaseError("Chromium", "", "is missing: install the system's package, as apt-get install chromium")
    out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        for scheme in SCHEMES:
            context = browser.new_context(color_scheme=scheme, viewport={"width": _WIDTH, "height": _HEIGHT})
            page = context.new_page()
            for name, path in pages.items():
                page.goto(f"{url}{path}")
                page.wait_for_timeout(_SETTLED_MS)
                page.screenshot(path=out / f"console-{name}-{scheme}.png")
            context.close()
        browser.close()


def _config(folder: Path) -> Config:
    return parse_config(
        {
            "kafka": {"data_dir": str(folder / "kafka"), "partitions": 1},
            "api": {"port": 0},
            "spark": {"checkpoint_dir": str(folder / "checkpoint"), "time_zone": "UTC"},
            "streams": {"flights": {"topic": "flights", "format": "json", "schema": SCHEMA}},
        }
    )


def _with_flights(daemon: Daemon) -> dict[str, str]:
    """Register predicates and send flights for a while. Return the pages for screenshots."""
    some = {
        f"late-{dest.lower()}-{delay}": f"arr_delay > {delay} AND dest = '{dest}' AND distance > {10 * (delay % 40)}"
        for dest in _DESTINATIONS
        for delay in range(5, 205, 2)
    }
    lines = [
        json.dumps({"id": query_id, "where": where, "labels": {"team": "ops" if query_id in QUERIES else "desk"}})
        for query_id, where in {**QUERIES, **some}.items()
    ]
    with httpx.Client(base_url=daemon.url, timeout=120) as client:
        headers = {"Content-Type": "application/x-ndjson"}
        client.post("/v1/queries", content="\n".join(lines), headers=headers).raise_for_status()
        values = _flights()
        with closing(daemon.streams()["flights"].kafka.producer()) as producer:
            for wave in range(_WAVES):
                start_s = time.monotonic()
                some_values = values[: len(values) * (3 + wave % 5) // 8]
                last = [producer.send("flights", value) for value in [*some_values, b'{"arr_delay": "late"}']]
                producer.flush()
                time.sleep(max(0.0, _WAVE_S - (time.monotonic() - start_s)))
        place = last[0].get(timeout=30)
        letters = client.get("/v1/plan").raise_for_status().json()["streams"]["flights"]["dead_letters"]
        if not letters["total"]:
            raise ReleaseError("stream", "flights", "has no dead letters: is it running?")
    return {
        "overview": "/console/",
        "queries": "/console/queries?text=SFO",
        "query": "/console/queries/late-arrivals",
        "new-query": "/console/query/new?stream=flights&where=arr_delay+%3E+120+AND+dest+%3D+%27SFO%27",
        "plan": "/console/plan?stream=flights",
        "block": "/console/plan/flights/0",
        "trace": f"/console/trace?source=flights-0-{place.offset}&query=late-arrivals",
        "dead-letters": "/console/dead-letters?stream=flights",
    }


def _flights() -> list[bytes]:
    """Return the packaged flights as records."""
    from asc.schema import Schema
    from broker.files.records import Target, read_batches

    target = Target("json", Schema.from_ddl(SCHEMA))
    batches: Any = read_batches(
        sample_path(), "csv", target, None, advance=lambda done: None, on_columns=lambda columns, by_case: None
    )
    return [value for batch in batches for value in batch.values]


if __name__ == "__main__":
    sys.exit(main())
