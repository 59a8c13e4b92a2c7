"""Requests of the API, counted by labels that no caller chooses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from broker.access.access import Access
from broker.access.audit import Audit
from broker.config.config import parse_config
from broker.config.sections import ApiConfig
from broker.daemon.daemon import Daemon
from broker.http.app import create_app
from broker.http.request_metrics import OTHER, CountedRequests, RequestCounts

PATHS = ["/metrics", "/v1/queries", "/v1/queries/{query_id}", "/v1/queries/{query_id}/deliveries", "/v1/{a}/{b}/c"]


@pytest.mark.parametrize(
    ("path", "route"),
    [
        ("/metrics", "/metrics"),
        ("/v1/queries", "/v1/queries"),
        ("/v1/queries/late", "/v1/queries/{query_id}"),
        ("/v1/queries/late/deliveries", "/v1/queries/{query_id}/deliveries"),
        ("/v1/queries/a/slash", "/v1/queries/{query_id}"),
        ("/v1/x/y/c", "/v1/{a}/{b}/c"),
        ("/v1/queries/", OTHER),
        ("/metrics/", OTHER),
        ("/wp-login.php", OTHER),
    ],
)
def test_a_path_is_counted_under_its_route(path: str, route: str) -> None:
    assert RequestCounts(PATHS).route_of(path) == route


def counted(app: FastAPI, path: str) -> dict[tuple[str, ...], float]:
    text = TestClient(app, base_url="http://127.0.0.1").get(path).text
    lines = [line for line in text.splitlines() if line.startswith("asc_api_requests_total")]
    found = {}
    for line in lines:
        labels, _, value = line.removeprefix("asc_api_requests_total{").partition("} ")
        found[tuple(part.split("=")[1].strip('"') for part in labels.split(","))] = float(value)
    return found


def test_each_address_of_the_api_is_counted_under_itself(tmp_path: Path) -> None:
    stream = {"topic": "s", "format": "json", "schema": "n INT"}
    config = parse_config({"spark": {"checkpoint_dir": str(tmp_path)}, "streams": {"s": stream}})
    app = create_app(Daemon(config), Access(), ApiConfig(), Audit())
    (counts,) = [each.kwargs["counts"] for each in app.user_middleware if each.cls is CountedRequests]
    paths = list(app.openapi()["paths"])
    assert len(paths) > 20
    assert [counts.route_of(path) for path in paths] == paths


def test_what_is_answered_and_what_is_refused_is_counted(tmp_path_factory: pytest.TempPathFactory) -> None:
    config = parse_config(
        {
            "spark": {"checkpoint_dir": str(tmp_path_factory.mktemp("checkpoint"))},
            "streams": {"s": {"topic": "s", "format": "json", "schema": "n INT"}},
        }
    )
    app = create_app(Daemon(config), Access(), ApiConfig(requests_per_s=1e6), Audit())
    client = TestClient(app, base_url="http://127.0.0.1")
    for path in ("/healthz", "/readyz", "/v1/queries/one", "/v1/queries/two", "/nowhere/1", "/nowhere/2"):
        client.get(path)
    client.post("/v1/queries", content=b"a=b", headers={"content-type": "text/plain"})
    client.request("BREW", "/healthz")
    client.get("/healthz", headers={"host": "elsewhere.example"})
    for path in ("/", "/console/queries/a", "/console/queries/b", "/console/query/edit/c", "/console/static/style.css"):
        client.get(path, follow_redirects=False)
    client.get("/console/nowhere")
    assert counted(app, "/metrics") == {
        ("GET", "/healthz", "200"): 1,
        ("GET", "/readyz", "503"): 1,
        ("GET", "/v1/queries/{query_id}", "503"): 2,
        ("GET", OTHER, "404"): 3,
        ("GET", "/", "303"): 1,
        ("GET", "/console/queries/{query_id:path}", "503"): 2,
        ("GET", "/console/query/edit/{query_id:path}", "503"): 1,
        ("GET", "/console/static/{file}", "200"): 1,
        ("POST", "/v1/queries", "415"): 1,
        (OTHER, "/healthz", "405"): 1,
        ("GET", "/healthz", "403"): 1,
    }


def test_what_fails_is_counted_as_failed() -> None:
    counts = RequestCounts(["/fails"])
    app = FastAPI()
    app.add_middleware(CountedRequests, counts=counts)

    @app.get("/fails")
    def fails() -> None:
        raise RuntimeError("unforeseen")

    assert TestClient(app, raise_server_exceptions=False).get("/fails").status_code == 500
    samples = {(one.name, *one.labels.values()): one.value for family in counts.collect() for one in family.samples}
    assert samples["asc_api_requests_total", "GET", "/fails", "500"] == 1
    assert samples["asc_api_request_seconds_count", "GET", "/fails"] == 1
    assert not any(name[0].endswith("_created") for name in samples)


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_who_hangs_up_before_an_answer_has_nothing_counted_as_failed(tmp_path: Path) -> None:
    spark = {"checkpoint_dir": str(tmp_path)}
    config = parse_config({"spark": spark, "streams": {"s": {"topic": "s", "format": "json", "schema": "n INT"}}})
    counts = RequestCounts(["/v1/check"])
    app = CountedRequests(create_app(Daemon(config), Access("secret"), ApiConfig(), Audit()), counts)
    head = {"type": "http", "method": "POST", "path": "/v1/check", "raw_path": b"/v1/check", "query_string": b""}
    headers = [(b"content-type", b"application/json"), (b"authorization", b"Bearer secret")]

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(_: Any) -> None:
        raise AssertionError("an answer to nobody")

    scope = {**head, "headers": headers, "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 2), "scheme": "http"}
    await app({**scope, "http_version": "1.1", "asgi": {"version": "3.0"}, "root_path": ""}, receive, send)
    samples = {(one.name, *one.labels.values()): one.value for family in counts.collect() for one in family.samples}
    assert samples["asc_api_requests_total", "POST", "/v1/check", "499"] == 1
    assert not [name for name in samples if name[-1] == "500"]
