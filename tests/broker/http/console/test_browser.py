"""The console in Chromium, through a daemon that runs: what one clicks works, and everybody can read it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Site
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.nightly, pytest.mark.kafka, pytest.mark.spark]

TOKEN = "the console's"


@pytest.fixture(scope="module")
def guarded(chromium: Browser, request: pytest.FixtureRequest) -> Site:
    """A daemon that asks for a token, with queries, records and dead letters."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("ASC_TOKEN", TOKEN)
        site: Site = request.getfixturevalue("site")
    site.client.headers["Authorization"] = f"Bearer {TOKEN}"
    site.register("late", "n > 5", labels={"team": "ops"})
    site.register("oslo", "s = 'Oslo' AND n < 3")
    for number in range(60):
        site.register(f"many-{number:02}", f"n = {number} AND d > {number}", site.topic("many"), paused=True)
    site.publish([json.dumps({"n": n, "s": "Oslo", "d": n / 2}).encode() for n in range(10)])
    site.drain()
    return site


class Window:
    """A page of a browser, and what went wrong on it."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.faults: list[str] = []
        self.elsewhere: list[str] = []
        page.on("console", lambda said: self.faults.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("request", lambda asked: None if asked.url.startswith(url) else self.elsewhere.append(asked.url))

    def open(self, path: str) -> None:
        self.page.goto(f"{self.url}{path}")

    def await_text(self, text: str) -> None:
        self.page.get_by_text(text).first.wait_for(timeout=20_000)


@pytest.fixture(params=["light", "dark"])
def window(request: pytest.FixtureRequest, chromium: Browser, guarded: Site) -> Iterator[Window]:
    """One that is logged in, by the form."""
    assert guarded.daemon is not None
    context = chromium.new_context(color_scheme=request.param, viewport={"width": 1280, "height": 900})
    found = Window(context.new_page(), guarded.daemon.url)
    found.open("/")
    found.page.get_by_label("Token").fill(TOKEN)
    found.page.get_by_role("button", name="Log in").click()
    found.await_text("Ready.")
    yield found
    context.close()
    assert found.faults == []
    assert found.elsewhere == []


def only(scheme: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("window", [scheme], indirect=True)


def barriers(page: Page) -> list[str]:
    """What axe finds that keeps somebody from reading or using a page."""
    from axe_playwright_python.sync_playwright import Axe

    found: Any = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{each['id']}: {node['html'][:200]} {node['failureSummary'][:300]}" for each in found for node in each["nodes"]
    ]


def test_nobody_is_kept_from_a_page(window: Window, guarded: Site) -> None:
    stream = guarded.stream("json")
    topic = guarded.config.streams[stream].topic
    awaited = {
        "/console/": "Ready.",
        "/console/queries?prefix=many": "many-00",
        "/console/queries/late": "In the plan",
        "/console/query/new": "Columns",
        f"/console/plan?stream={stream}": "Blocks",
        f"/console/plan/{stream}/0": "Sequence",
        f"/console/trace?stream={stream}": f"{topic}-0-0",
        f"/console/trace?source={topic}-0-7&query=late": "at late",
        f"/console/dead-letters?stream={stream}": "Send again",
        "/console/queries?text=nothing-is-like-that": "No query is like that.",
    }
    for path, text in awaited.items():
        window.open(path)
        window.await_text(text)
        assert barriers(window.page) == [], path
    window.page.get_by_role("button", name="Log out").click()
    window.page.get_by_label("Token").wait_for()
    assert barriers(window.page) == []


@only("light")
def test_queries_are_found_as_one_types(window: Window) -> None:
    window.page.get_by_role("link", name="Queries").click()
    window.page.get_by_label("Text in the predicate or id").press_sequentially("OSLO")
    window.await_text("1 found among")
    assert window.page.locator("#found tbody tr").count() == 1
    window.page.get_by_label("Text in the predicate or id").fill("")
    window.page.get_by_label("Id begins with").press_sequentially("many")
    window.await_text("50 of 60 queries, in")
    window.page.get_by_role("link", name="Next page").first.click()
    window.await_text("51 to 60 of 60 queries, in")
    window.page.get_by_role("link", name="many-59").click()
    window.await_text("Paused: it receives nothing")


@only("dark")
def test_a_predicate_is_judged_as_one_types_and_its_matches_lead_to_traces(window: Window, guarded: Site) -> None:
    page, topic = window.page, guarded.config.streams[guarded.stream("json")].topic
    page.get_by_role("link", name="Queries").click()
    page.get_by_role("link", name="New query").click()
    page.get_by_label("Stream").select_option(guarded.stream("json"))
    page.get_by_label("Id").fill("typed")
    predicate = page.get_by_label("Predicate: a boolean expression of Spark SQL")
    predicate.press_sequentially("nn > 7")
    window.await_text("unknown column 'nn'")
    predicate.fill("n > 7")
    window.await_text("It would be taken.")
    window.await_text("It would have accepted 2 of the last")
    page.get_by_role("button", name="Register").click()
    window.await_text("accepted since start")
    guarded.publish([b'{"n": 8}', b'{"n": 7}'])
    guarded.drain()
    page.reload()
    window.await_text('{"n": 8}')
    assert page.locator("dt:has-text('accepted since start') + dd").inner_text() == "1"
    page.locator("section[aria-label='Last matches'] a").first.click()
    window.await_text(f"{topic}-0-")
    window.await_text("at typed")
    window.open("/console/queries/typed")
    page.get_by_role("button", name="Pause").click()
    window.await_text("Paused: it receives nothing")
    page.get_by_role("button", name="Resume").wait_for()
    page.get_by_text("Remove", exact=True).click()
    page.get_by_role("button", name="Remove typed").click()
    window.await_text("New query")
    assert guarded.client.get("/v1/queries/typed").status_code == 404


@only("light")
def test_the_first_page_follows_what_flows(window: Window, guarded: Site) -> None:
    stream = guarded.stream("json")
    place = window.page.locator(f"section[aria-label='Stream {stream}'] dt:has-text('dead letters') + dd")
    before = int(place.inner_text())
    guarded.publish([b"no record"])
    guarded.drain()
    # Without a click: it asks every five seconds.
    window.page.wait_for_function(
        "([was, at]) => Number(document.querySelector(at).textContent) === was + 3",
        arg=[before, f"section[aria-label='Stream {stream}'] dd.warn"],
        timeout=20_000,
    )


@only("light")
def test_the_first_page_says_when_nothing_answers_and_keeps_what_was_opened(window: Window) -> None:
    page = window.page
    summary = page.get_by_text("Where the time of a batch goes").first
    summary.click()
    first = page.locator("#live time").inner_text()
    changed = "was => document.querySelector('#live time').textContent !== was"
    page.wait_for_function(changed, arg=first, timeout=20_000)
    assert page.locator("#live details[open]").count() == 1
    assert page.evaluate("document.activeElement.textContent") == "Where the time of a batch goes"
    assert not page.get_by_text("No answer since").is_visible()
    page.route("**/console/live", lambda route: route.abort())
    page.get_by_text("No answer since").wait_for(timeout=20_000)
    assert page.locator("#live time").inner_text() in page.locator("#silence").inner_text()
    assert barriers(page) == []
    page.unroute("**/console/live")
    page.route("**/console/live", lambda route: route.fulfill(status=503, body="{}"))
    for _ in range(2):
        with page.expect_response("**/console/live", timeout=60_000) as refused:
            pass
        assert refused.value.status == 503
    assert page.get_by_text("No answer since").is_visible()
    page.unroute("**/console/live")
    page.get_by_text("No answer since").wait_for(state="hidden", timeout=20_000)
    # Which the browser's console tells as well.
    expected = ("ERR_FAILED", "503", "htmx:afterRequest", "htmx:sendError")
    assert [fault for fault in window.faults if any(part in fault for part in expected)] == window.faults
    window.faults.clear()


@only("dark")
def test_records_to_follow_are_those_of_the_stream_and_for_the_query(window: Window, guarded: Site) -> None:
    page, stream = window.page, guarded.stream("json")
    other = next(name for name in sorted(guarded.config.streams) if name != stream)
    window.open(f"/console/trace?stream={stream}&query=late")
    page.locator("table a").first.wait_for()
    assert "query=late" in str(page.locator("table a").first.get_attribute("href"))
    page.get_by_label("Query to say why of").fill("")
    page.get_by_label("Stream").select_option(other)
    window.await_text(f"Topic {guarded.config.streams[other].topic} has no records.")
    page.get_by_label("Query to say why of").fill("oslo")
    page.get_by_label("Query to say why of").blur()
    page.locator("table a").first.click()
    window.await_text("at oslo")


@only("light")
def test_a_dead_letter_is_sent_again(window: Window, guarded: Site) -> None:
    window.open(f"/console/dead-letters?stream={guarded.stream('json')}")
    window.page.get_by_role("button", name="Send").first.click()
    window.await_text("was sent to the source topic again")


@only("light")
def test_a_page_that_is_refused_leads_on(window: Window) -> None:
    window.open("/console/queries/nobody")
    window.await_text("nobody")
    assert barriers(window.page) == []
    window.page.get_by_role("link", name="To the overview").click()
    window.await_text("Ready.")
    # The answer 404 itself is told by the browser's console.
    assert [fault for fault in window.faults if "404" in fault] == window.faults
    window.faults.clear()
