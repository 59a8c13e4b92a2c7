"""The pages of DBSCAN queries in Chromium: everybody can read them at any width, and links do all without scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

from broker.http.server import ApiServer
from tests.broker.http.console.layout import WIDTHS, faults_of
from tests.broker.http.console.operators.dbscan_records import Topic, cluster_record, outputs, window_record

if TYPE_CHECKING:
    from conftest import Resting
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.nightly, pytest.mark.kafka, pytest.mark.spark]

OPERATOR = {
    **{"name": "dbscan", "attributes": ["n", "d"], "time": "_timestamp", "eps": 0.5, "min_samples": 3},
    **{"window_points": 300, "slide_points": 50},
}
PAGES = {
    "/console/dbscan": "eps, min_samples and windows",
    "/console/dbscan/con-browsed": "Settings of its topic",
    "/console/dbscan/con-merged": "Disappeared",
    "/console/dbscan/con-young": "No window of it is at the end of its topic",
    "/console/queries/con-browsed": "Settings of its topic",
}


@pytest.fixture
def address(
    resting: Resting, registered: Callable[..., None], send_to: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """Return the address of a console with a query of many clusters, one that merged, and one without a window."""
    monkeypatch.delenv("ASC_TOKEN", raising=False)
    names = ("con-browsed", "con-merged", "con-young")
    registered(dict.fromkeys(names, "n > 5"), operator=OPERATOR, topic="con-browsed")
    drawn = np.random.default_rng(9)
    middles = drawn.uniform(0, 10, (12, 2))
    rows = middles[np.arange(300) % 12] + drawn.normal(0, 0.15, (300, 2))
    topic = Topic().send_all(outputs(rows, OPERATOR, names[0]))
    merged = cluster_record(names[1], 100, 0, events=["merge", "split"], **{"from": [f"50-{n}" for n in range(20)]})
    topic.send(names[1], merged)
    topic.send(names[1], window_record(names[1], 100, 1, disappeared={f"50-{n}": ["100-0"] for n in range(1, 20)}))
    for record in topic.records:
        send_to("con-browsed", record.value, headers=list(record.headers))
    server = ApiServer(resting.config, resting)
    yield server.start()
    server.stop()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nobody_is_kept_from_a_page_at_any_width(
    chromium: Browser, address: str, scheme: Literal["light", "dark"]
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = chromium.new_page(color_scheme=scheme)
    found: list[str] = []
    for path, awaited in PAGES.items():
        found += faults_of(page, f"{address}{path}", awaited, WIDTHS)
        violations: Any = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
        found += [f"{path}: {each['id']} {node['html'][:200]}" for each in violations for node in each["nodes"]]
    page.close()
    assert found == []


def test_links_do_all_without_scripts(chromium: Browser, address: str) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/console/queries/con-browsed")
    page.get_by_role("link", name="Look at its clusters").click()
    assert page.get_by_role("img", name="Clusters of the window points 1 to 300").count() == 1
    page.get_by_role("link", name="con-merged").click()
    assert page.get_by_text("merge, split", exact=True).count() == 1
    page.get_by_role("link", name="Clusters", exact=True).click()
    assert page.locator("table.list tbody tr").count() == 3
    context.close()
