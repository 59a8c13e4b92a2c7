"""Browsers that are logged in, without a window."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from fastapi.testclient import TestClient

from broker.access.access import Access
from broker.access.audit import Audit
from broker.access.scope import Scope
from broker.access.secret import digest
from broker.config.sections import ApiConfig
from broker.http.app import create_app

if TYPE_CHECKING:
    from conftest import Resting
    from playwright.sync_api import Browser

OWN = "http://broker:8080"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser with pages that run; the test is skipped where the system has none."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("Chromium is missing: install the system's package, as apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def browse(resting: Resting) -> Iterator[Callable[[str], TestClient]]:
    """The console as one sees it who logs in with a token: all, ops (own ids, one stream, one column), reader,
    elsewhere (own topics), column (one column).
    """
    scopes = [
        Scope(
            "ops",
            id_prefix="con-ops-",
            streams=frozenset({resting.stream("json")}),
            columns=frozenset({("n",)}),
        ),
        Scope("reader", read_only=True),
        Scope("elsewhere", topic_prefixes=("con-",)),
        Scope("column", columns=frozenset({("n",)})),
    ]
    access = Access("all", {digest(scope.name): scope for scope in scopes})
    app = create_app(resting, access, ApiConfig(requests_per_s=1e6), Audit())

    with TestClient(app) as running:

        def of(token: str) -> TestClient:
            client = TestClient(app, base_url=OWN, headers={"Origin": OWN}, follow_redirects=False)
            client.portal = running.portal
            answer = client.post("/console/login", data={"token": token, "next": ""})
            assert answer.status_code == 303, answer.text
            return client

        yield of


@pytest.fixture
def registered(resting: Resting) -> Iterator[Callable[..., None]]:
    """Registers queries, by id and predicate; whatever begins with con- is removed after the test."""
    from broker.http.models import QueryBody, new_query
    from broker.queries.change import Put, Remove

    def put(queries: dict[str, str], **more: Any) -> None:
        bodies = [QueryBody(id=name, where=where, **more) for name, where in queries.items()]
        puts = [Put(new_query(body, resting.stream("json")), replaces=True) for body in bodies]
        resting.permitted.apply(puts, "register").raised()

    yield put
    left = [Remove(query.id) for query in resting.registrar().standing if query.id.startswith("con-")]
    if left:
        resting.permitted.apply(left, "remove").raised()
