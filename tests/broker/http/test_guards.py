"""What the API does before it reaches a query: tokens, sizes, a daemon that is not ready."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import Response
from fastapi.testclient import TestClient

from broker.access.access import Access
from broker.access.audit import Audit
from broker.access.scope import Scope
from broker.access.secret import digest
from broker.access.sessions import Sessions
from broker.cancellation import Cancellation
from broker.config.config import Config, parse_config
from broker.config.sections import ApiConfig
from broker.daemon.daemon import Daemon
from broker.http.app import create_app
from broker.http.console.pages import Pages
from broker.http.guards import _CALLERS_AT_ONCE, Guards


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return parse_config(
        {
            "spark": {"checkpoint_dir": str(tmp_path)},
            "streams": {"s": {"topic": "s", "format": "json", "schema": "n INT"}},
        }
    )


@pytest.fixture
def client(config: Config) -> Iterator[TestClient]:
    """The API of a daemon that has not started, with a token and a small bound on bodies."""
    with TestClient(create_app(Daemon(config), Access("secret"), ApiConfig(max_body_bytes=2_000), Audit())) as client:
        yield client


AUTHORISED = {"Authorization": "Bearer secret", "Content-Type": "application/json"}


def test_health_needs_no_token_and_readiness_has_a_reason(client: TestClient) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (503, {"ready": False, "reason": "starting"})


def test_one_callers_requests_wait_for_each_other_and_nobody_elses_do() -> None:
    started: list[str] = []

    async def asked() -> None:
        answered = asyncio.Event()

        async def app(scope: Any, receive: Any, send: Any) -> None:
            started.append(scope["path"])
            if scope["path"] != "/healthz":
                await answered.wait()
            await Response()(scope, receive, send)

        access = Access("secret", {digest("other"): Scope("other")})
        guards = Guards(app, access, ApiConfig(), Sessions(access), Pages(logs_in=True).refused)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(guards), base_url="http://127.0.0.1") as client:

            async def get(path: str, token: str) -> int:
                return (await client.get(path, headers={"Authorization": f"Bearer {token}"})).status_code

            many = [asyncio.create_task(get("/many", "secret")) for _ in range(40)]
            other = asyncio.create_task(get("/other", "other"))
            assert await get("/healthz", "secret") == 200
            # Each round of the loop runs all that can go on; what is held back goes on in none.
            for _ in range(1_000):
                await asyncio.sleep(0)
            assert started.count("/many") == _CALLERS_AT_ONCE
            assert "/other" in started
            answered.set()
            assert await asyncio.gather(*many, other) == [200] * 41

    asyncio.run(asked())
    assert started.count("/many") == 40


def test_the_work_of_a_request_is_cancelled_when_its_client_is_gone_or_the_daemon_stops() -> None:
    async def asked(stopping: Cancellation, goes: asyncio.Event, started: Callable[[], None]) -> list[str | None]:
        found: list[str | None] = []

        async def app(scope: Any, receive: Any, send: Any) -> None:
            assert (await receive())["body"] == b"{}"
            cancellation = scope["state"]["caller"].cancellation
            found.append(cancellation.reason)
            started()
            while cancellation.reason is None:
                await asyncio.sleep(0)
            found.append(cancellation.reason)

        messages = [{"type": "http.request", "body": b"{}", "more_body": False}]

        async def receive() -> Any:
            if messages:
                return messages.pop()
            await goes.wait()
            return {"type": "http.disconnect"}

        async def send(_: Any) -> None:
            raise AssertionError("nothing is answered")

        access = Access("secret")
        pages = Pages(logs_in=True).refused
        guards = Guards(app, access, ApiConfig(), Sessions(access), pages, stopping=stopping)
        headers = [(b"authorization", b"Bearer secret"), (b"content-type", b"application/json")]
        scope = {"type": "http", "method": "POST", "path": "/v1/check", "headers": headers, "client": ("host", 1)}
        await asyncio.wait_for(guards(scope, receive, send), 60)
        return found

    async def run() -> None:
        goes = asyncio.Event()
        assert await asked(Cancellation(), goes, goes.set) == [None, "its client is gone"]
        stopping = Cancellation()
        assert await asked(stopping, asyncio.Event(), lambda: stopping.cancel("the daemon stops")) == [
            None,
            "the daemon stops",
        ]

    asyncio.run(run())


@pytest.mark.parametrize("header", [None, "Bearer wrong", "secret", "Basic secret", "Bearer"])
def test_without_the_token_nothing_is_shown(client: TestClient, header: str | None) -> None:
    for path in ("/v1/queries", "/v1/streams", "/docs", "/openapi.json"):
        answer = client.get(path, headers={} if header is None else {"Authorization": header})
        assert answer.status_code == 401
        fault, shown = ("missing", "") if header is None else ("wrong", " '********'")
        assert answer.json()["error"]["message"] == (
            f"bearer token{shown}: is {fault}: asc takes it from ASC_TOKEN or --token-file, "
            "HTTP as header Authorization: Bearer TOKEN"
        )
        assert "secret" not in answer.text


def test_with_the_token_a_daemon_that_is_not_ready_says_so(client: TestClient) -> None:
    answer = client.get("/v1/queries", headers=AUTHORISED)
    assert answer.status_code == 503
    assert answer.json()["error"]["message"] == (
        "daemon not ready, it is 'starting': try again in a moment, or ask 'asc status'"
    )


def test_a_body_over_the_bound_is_refused(client: TestClient) -> None:
    for body in (b"x" * 2_001, iter([b"x" * 1_500, b"x" * 1_500])):
        answer = client.post("/v1/queries", content=body, headers=AUTHORISED)
        assert answer.status_code == 413
        assert "raise api.max_body_bytes" in answer.json()["error"]["message"]


def test_a_table_over_the_bound_is_to_be_made_smaller(client: TestClient) -> None:
    headers = {**AUTHORISED, "Content-Type": "text/csv"}
    answer = client.put("/v1/cube/lookups/planes?key=k", content=b"x" * 2_001, headers=headers)
    assert answer.status_code == 413
    assert answer.json()["error"]["message"] == "body 'over 2000 bytes': leave out rows or columns"


def test_only_a_load_of_one_who_may_write_is_large(config: Config) -> None:
    """A body of 4 MiB may be a hundred MiB of objects."""
    named = {digest("reader"): Scope("reader", read_only=True)}
    api = ApiConfig(max_body_bytes=8 << 20)
    large = b'{"tuple": {"a": [' + b",".join([b"{}"] * 1_400_000) + b"]}}"
    ndjson = "application/x-ndjson"
    with TestClient(create_app(Daemon(config), Access("writer", named), api, Audit())) as client:
        for token, path, kind, status in (
            ("reader", "/v1/queries/q/explain", "application/json", 413),
            ("writer", "/v1/queries/q/explain", "application/json", 413),
            ("writer", "/v1/check", ndjson, 413),
            ("writer", "/v1/queries", "application/json", 413),
            ("reader", "/v1/queries", ndjson, 413),
            ("writer", "/v1/queries", ndjson, 503),
        ):
            headers = {"Authorization": f"Bearer {token}", "Content-Type": kind}
            answer = client.request("POST", path, content=large, headers=headers)
            assert answer.status_code == status, (token, path, kind)
            if status == 413:
                assert answer.json()["error"]["message"] == "body 'over 2097152 bytes': send a smaller one"


def test_openapi_tells_both_forms_of_a_registration(client: TestClient) -> None:
    post = client.get("/openapi.json", headers=AUTHORISED).json()["paths"]["/v1/queries"]["post"]
    assert set(post["requestBody"]["content"]) == {"application/json", "application/x-ndjson"}


def test_openapi_tells_where_a_token_is_asked_for(client: TestClient) -> None:
    described = client.get("/openapi.json", headers=AUTHORISED).json()
    assert described["components"]["securitySchemes"] == {"bearer": {"type": "http", "scheme": "bearer"}}
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            concrete = path.replace("{query_id}", "q")
            asks = client.request(method, concrete).status_code == 401
            assert ("security" in operation) == asks, path


def test_openapi_tells_what_may_be_refused_and_how(client: TestClient) -> None:
    described = client.get("/openapi.json", headers=AUTHORISED).json()
    assert "HTTPValidationError" not in json.dumps(described["paths"])
    refusal = {"$ref": "#/components/schemas/ErrorModel"}
    for path, operations in described["paths"].items():
        for operation in operations.values():
            statuses = set(operation["responses"])
            assert statuses >= {"413", "429", "503"}, path
            assert path in {"/healthz", "/readyz"} or statuses >= {"400", "401", "413", "415", "503"}, path
            for status in statuses - {"200", "201"}:
                schema = operation["responses"][status]["content"]["application/json"]["schema"]
                if (path, status) == ("/readyz", "503"):
                    assert schema["anyOf"] == [{"$ref": "#/components/schemas/ReadyModel"}, refusal]
                else:
                    assert schema == refusal


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_a_body_that_a_web_form_can_send_is_refused(client: TestClient, kind: str | None) -> None:
    headers = {"Authorization": "Bearer secret", **({} if kind is None else {"Content-Type": kind})}
    for method, path in (("POST", "/v1/queries"), ("PUT", "/v1/queries/x"), ("POST", "/v1/check")):
        answer = client.request(method, path, content=b"{}", headers=headers)
        assert answer.status_code == 415
        assert "send application/json or application/x-ndjson" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "127.0.0.1:8750"}, 503),
        ({"Host": "localhost:8750", "Origin": "http://127.0.0.2:99"}, 503),
        ({"Host": "[::1]:8750"}, 503),
        ({"Host": "own.example:8750"}, 503),
        ({"Host": "rebound.example:8750"}, 403),
        ({"Host": "127.0.0.1.example"}, 403),
        ({"Host": "[::1"}, 403),
        ({"Host": "localhost", "Origin": "https://foreign.example"}, 403),
        ({"Host": "localhost", "Origin": "null"}, 403),
    ],
)
def test_without_a_token_foreign_hosts_and_pages_are_refused(
    config: Config, headers: dict[str, str], status: int
) -> None:
    with TestClient(create_app(Daemon(config), Access(), ApiConfig(host="own.example"), Audit())) as client:
        for method in ("GET", "DELETE"):
            answer = client.request(method, "/v1/queries/x", headers=headers)
            assert answer.status_code == status, answer.text


@pytest.mark.parametrize(
    "path", ["/none/{}", "/v1/queries/{}", "/v1/streams?{}=1", "/v1/check?{}", "/console/{}", "/v1/plan?block={}"]
)
def test_no_answer_repeats_what_is_long(config: Config, path: str) -> None:
    app = create_app(Daemon(config), Access(), config.api, Audit())
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        long = "x" * 60_000
        answer = client.get(path.format(long))
        assert 400 <= answer.status_code < 504
        assert len(answer.content) < 5_000
        if "console" not in path:
            message = answer.json()["error"]["message"]
            assert len(message) <= 500
            assert len(message.splitlines()) == 1
        body = {long: 1, "where": {"a": [long]}, "stream": long}
        answer = client.post("/v1/check", json=body)
        assert answer.status_code == 400
        assert len(answer.content) < 2_000
