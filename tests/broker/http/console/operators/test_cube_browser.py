"""The pages of cubes in Chromium: everybody can read them at any width, and links do all without scripts."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import pytest

from broker.config.config import Config
from tests.broker.http.console.layout import WIDTHS, faults_of
from tests.broker.http.console.operators.test_cube import cubes_config, filled, rows_of

if TYPE_CHECKING:
    from conftest import Site
    from playwright.sync_api import Browser

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = [pytest.mark.nightly, pytest.mark.kafka, pytest.mark.spark]

PAGES = {
    "/console/cubes": "measures and dimensions",
    "/console/cubes/late": "What is counted",
    "/console/cubes/late?by=origin&by=dest&across=carrier&measure=delay&live=true": "12 groups, 5 columns: delay",
    "/console/cubes/late?by=carrier&order=delay+DESC": "5 groups",
    "/console/cubes/late?by=&measure=mean": "mean, a point for each 1 h",
    "/console/cubes/late?measure=last": "is no number that can be drawn",
    "/console/cubes/late?by=carrier&where=origin+%3D+%27JFK%27&where=dest+%3D+%27SFO%27": "leave out",
    "/console/cubes/late?where=delay+%3E+1": "is no dimension",
    "/console/cubes/tails?by=tail": "Next page",
    "/console/cubes/tails?by=carrier&across=tail&measure=n": "Next columns",
    "/console/cubes/empty?by=tail": "No group here",
    "/console/cube/stored/late": "What is kept of the past",
    "/console/cube/stored/empty": "No pane has a record yet",
    "/console/queries/late": "In the plan",
}


@pytest.fixture(scope="module")
def site(site_of: Callable[[Config], Site], kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A daemon with cubes, one of which has a gap."""
    own = filled(site_of(cubes_config(kafka, tmp_path_factory.mktemp("cube-browser"))))
    for paused, hour in ((True, 6), (False, 9)):
        assert own.client.put("/v1/queries/late", json={"paused": paused}).status_code == 200
        own.publish([json.dumps(row).encode() for row in rows_of(hour, 30, hour)])
        own.drain()
    return own


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nobody_is_kept_from_a_page_at_any_width(
    chromium: Browser, site: Site, scheme: Literal["light", "dark"]
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    assert site.daemon is not None
    page = chromium.new_page(color_scheme=scheme)
    found: list[str] = []
    for path, awaited in PAGES.items():
        found += faults_of(page, f"{site.daemon.url}{path}", awaited, WIDTHS)
        violations: Any = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
        found += [f"{path}: {each['id']} {node['html'][:200]}" for each in violations for node in each["nodes"]]
    page.close()
    assert found == []


def test_links_and_the_form_do_all_without_scripts(chromium: Browser, site: Site) -> None:
    assert site.daemon is not None
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site.daemon.url}/console/")
    page.get_by_role("link", name="Cubes").click()
    page.get_by_role("link", name="late").click()
    page.get_by_role("link", name="origin to dest").click()
    page.get_by_role("link", name="by carrier").click()
    assert page.locator("table").first.locator("tbody tr").count() == 50
    page.get_by_role("link", name="Next page").click()
    assert page.get_by_text("51 to ").count() == 1
    page.get_by_role("link", name="First page").click()
    page.get_by_role("link", name="JFK").first.click()
    assert page.get_by_text("origin = 'JFK'", exact=True).count() == 1
    page.locator("select[name=across]").select_option("carrier")
    page.locator("select[name=measure]").select_option("delay")
    page.get_by_label("open panes too").check()
    page.get_by_role("button", name="Show").click()
    # Three destinations and five carriers of one origin, whose slice the form keeps.
    assert page.get_by_text("3 groups, 5 columns: delay").count() == 1
    page.get_by_role("link", name="all", exact=True).click()
    assert page.locator("th[aria-sort=descending]").count() == 1
    page.get_by_role("link", name="Without origin = 'JFK'").click()
    assert page.get_by_text("12 groups, 5 columns: delay").count() == 1
    context.close()
