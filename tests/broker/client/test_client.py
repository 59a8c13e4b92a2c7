"""The client against a real daemon: queries from their registration to their removal, predicates, records, waits."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import broker
from broker.answers.query import Load
from broker.client.client import Client
from broker.client.errors import (
    ConflictError,
    NoAnswerError,
    NotFoundError,
    RefusedError,
    TooLargeError,
    UnauthorizedError,
    UnavailableError,
)
from broker.config.config import parse_config
from broker.daemon.daemon import Daemon
from broker.http.server import ApiServer

if TYPE_CHECKING:
    from conftest import Resting, Site

TOKEN = "a-secret-of-at-least-so-many-characters"


def test_the_client_is_imported_without_spark_kafka_and_the_web_server() -> None:
    program = (
        "import sys, broker; broker.Client; broker.ClientError; "
        "print([name for name in ('pyspark', 'kafka', 'confluent_kafka', 'fastapi', 'pydantic', 'numpy', 'httpx') "
        "if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.fixture
def client(site: Site) -> Iterator[Client]:
    assert site.daemon is not None
    with broker.Client(site.daemon.url) as client:
        yield client
        for one in list(client.list(prefix="client-")):
            client.remove(one["id"])


@pytest.mark.kafka
@pytest.mark.spark
def test_a_query_is_added_shown_changed_and_removed(client: Client, site: Site) -> None:
    stream = site.stream("json")
    until = datetime(2090, 1, 1, tzinfo=timezone.utc)
    added = client.add("client-late", "n > 60", stream=stream, labels={"team": "ops"}, expires_at=until, paused=True)
    assert (added["change"], added["previous"], added["query"]["topic"]) == ("registered", None, "asc.client-late")
    shown = client.show("client-late")
    assert (shown["paused"], shown["expires_at"], shown["version"]) == (True, "2090-01-01T00:00:00Z", added["version"])
    assert client.register(shown)["change"] == "unchanged"
    assert client.resume("client-late")["query"]["paused"] is False
    assert client.pause("client-late")["query"]["paused"] is True
    changed = client.change("client-late", {"where": "n > 61", "paused": False})
    assert changed["previous"] is not None
    assert (changed["previous"]["where"], changed["query"]["where"]) == ("n > 60", "n > 61")
    with pytest.raises(ConflictError, match="client-late"):
        client.add("client-late", "n > 62", stream=stream, replaces=False)
    explained = client.explain("client-late", {"n": 75})
    assert explained["accepted"] is True
    traced = client.trace(values={"n": 75}, stream=stream, query="client-late", max_blocks=1)
    assert traced["verdict"] is not None
    assert traced["verdict"]["accepted"] is True
    assert set(client.remove("client-late")) == {"version", "effective_offsets"}
    with pytest.raises(NotFoundError) as caught:
        client.show("client-late")
    assert (caught.value.status, caught.value.value) == (404, "client-late")


@pytest.mark.kafka
@pytest.mark.spark
def test_lists_are_filtered_and_walked_page_by_page(client: Client, site: Site) -> None:
    stream = site.stream("json")
    near = {"name": "near", "key": "n", "position": "ST_Point(d, d)", "distance_m": 5, "window_s": 30, "every_s": 10}
    client.apply({"id": f"client-{n}", "where": f"n > {n}", "stream": stream} for n in range(5))
    client.add("client-near", "true", stream=stream, operator=near)
    client.add("client-events", "n > 3", stream=stream, operator={"name": "events", "key": "n"}, labels={"of": "x"})
    walked = client.list(prefix="client-", operator="route", page_size=2)
    assert [one["id"] for one in islice(walked, 3)] == ["client-0", "client-1", "client-2"]
    assert [one["id"] for one in walked] == ["client-3", "client-4"]
    assert [one["id"] for one in client.list(prefix="client-", operator="near")] == ["client-near"]
    assert [one["id"] for one in client.list(prefix="client-", label="of=x", stream=stream)] == ["client-events"]
    with pytest.raises(RefusedError, match="operator 'later': is not known"):
        next(client.list(operator="later"))


@pytest.mark.kafka
@pytest.mark.spark
def test_many_are_applied_together_or_not_at_all(client: Client, site: Site, tmp_path: Path) -> None:
    stream = site.stream("json")
    good = [{"id": f"client-{n}", "where": f"n > {n}", "stream": stream} for n in range(3)]
    with pytest.raises(RefusedError) as caught:
        client.apply([*good, {"id": "client-bad", "where": "nn > 1", "stream": stream}])
    ((line, query_id),) = [(one["line"], one["id"]) for one in caught.value.lines]
    assert (line, query_id, caught.value.status) == (4, "client-bad", 400)
    assert list(client.list(prefix="client-")) == []
    path = tmp_path / "queries.ndjson"
    path.write_text("\n".join(map(json.dumps, good)))
    assert client.apply(path, dry_run=True)["registered"] == 3
    assert list(client.list(prefix="client-")) == []
    assert client.apply(path)["registered"] == 3
    # What is listed can be applied, beside removals.
    listed = list(client.list(prefix="client-"))
    again = client.apply([*listed[:2], {"remove": "client-2"}])
    assert (again["unchanged"], again["removed"]) == (2, 1)
    kept = client.apply([good[2], {"id": "client-bad", "where": "nn > 1", "stream": stream}], keep_going=True)
    assert (kept["registered"], [one["id"] for one in kept["errors"]]) == (1, ["client-bad"])


@pytest.mark.kafka
@pytest.mark.spark
def test_the_progress_of_a_large_load_is_told(client: Client, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker.client.progress.POLL_S", 0.01)
    seen: list[Load] = []
    line = {"stream": site.stream("json"), "paused": True}
    lines = [{"id": f"client-{n}", "where": f"n = {n}", **line} for n in range(6_000)]
    assert client.apply(lines, progress=seen.append)["registered"] == 6_000
    assert seen
    assert {one["queries"] for one in seen} == {6_000}
    client.apply({"remove": one["id"]} for one in lines)


@pytest.mark.kafka
@pytest.mark.spark
def test_a_predicate_is_checked_and_tried(client: Client, site: Site) -> None:
    stream = site.stream("json")
    checked = client.check("n > 3 AND n < 9", stream=stream)
    assert checked["conjuncts"] == [[{"attribute": "n", "constraint": "3 < n < 9"}]]
    with pytest.raises(RefusedError) as caught:
        client.check("nn > 3", stream=stream)
    assert caught.value.caret_text == "nn > 3\n^^"
    tried = client.test("n > 3", stream=stream, last=10, show=1)
    assert tried["accepted"] <= tried["records"]


@pytest.mark.kafka
@pytest.mark.spark
def test_a_daemon_describes_itself(client: Client, site: Site) -> None:
    assert client.wait_until_ready(60) == {"ready": True, "reason": None}
    streams = client.streams()
    assert {one["name"] for one in streams["streams"]} == set(site.config.streams)
    assert streams["kafka"]["bootstrap_servers"] == site.bootstrap_servers
    client.add("client-block", "n > 7 AND s = 'x'", stream=site.stream("json"))
    plan = client.plans()[site.stream("json")]
    assert plan["queries"] >= 1
    block = client.block(site.stream("json"), 0)
    assert block["conjuncts"] == plan["blocks"][0]["conjuncts"]
    assert client.loads() == []


@pytest.fixture
def starting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], ApiServer]]:
    """Serves the API of a daemon that has not started, with a token, at a port."""
    monkeypatch.setenv("ASC_TOKEN", TOKEN)
    servers = []
    stream = {"topic": "s", "format": "json", "schema": "n INT"}
    config_of = {"spark": {"checkpoint_dir": str(tmp_path)}, "streams": {"s": stream}}

    def start(port: int = 0) -> ApiServer:
        config = parse_config({"api": {"port": port}, **config_of})
        servers.append(ApiServer(config, Daemon(config)))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


def test_a_daemon_is_waited_for_until_it_is_ready_or_the_time_is_over(starting: Callable[..., ApiServer]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    with Client(f"http://127.0.0.1:{port}", token=TOKEN) as client:
        with pytest.raises(NoAnswerError):
            client.wait_until_ready(0)
        late = threading.Timer(0.3, lambda: starting(port).start())
        late.start()
        answer = client.wait_until_ready(3)
        late.join()
        assert (answer["ready"], answer["reason"]) == (False, "starting")
        with pytest.raises(UnavailableError, match="daemon not ready") as caught:
            client.show("late")
        assert caught.value.status == 503


def test_a_wrong_token_ends_a_wait_where_it_is_tried(starting: Callable[..., ApiServer]) -> None:
    url = starting().start()
    for token in (None, TOKEN[:-1]):
        with Client(url, token=token) as client:
            assert TOKEN[:-1] not in repr(client)
            with pytest.raises(UnauthorizedError) as caught:
                client.wait_until_ready(60, on_unready=client.streams)
            assert caught.value.status == 401
            assert TOKEN[:-1] not in f"{caught.value}{caught.value!r}"


@pytest.mark.kafka
@pytest.mark.spark
def test_a_load_over_the_daemon_s_bound_goes_in_smaller_parts(resting: Resting) -> None:
    """Also where the part that the client takes at first is within its own bound."""
    api = resting.config.api.model_copy(update={"max_body_bytes": 1024, "port": 0})
    config = resting.config.model_copy(update={"api": api})
    server = ApiServer(config, resting)
    stream = resting.stream("json")
    bodies = [{"id": f"client-half-{n}", "where": f"n > {n}", "stream": stream, "topic": "halves"} for n in range(60)]
    try:
        with Client(server.start()) as client:
            assert client.apply(bodies)["registered"] == 60
            assert client.apply([{"remove": body["id"]} for body in bodies])["removed"] == 60
            with pytest.raises(TooLargeError, match=r"raise api\.max_body_bytes"):
                client.apply([{**bodies[0], "where": f"n > 1 {' ' * 2_000}"}, bodies[1]])
            assert list(client.list(prefix="client-half-")) == []
    finally:
        server.stop()


@pytest.mark.kafka
@pytest.mark.spark
def test_a_large_load_goes_in_parts_and_is_all_or_none(
    client: Client, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker.client.client.PART_BYTES", 400)
    stream = site.stream("json")
    bodies = [{"id": f"client-part-{n}", "where": f"n > {n}", "stream": stream, "topic": "parts"} for n in range(30)]
    with pytest.raises(RefusedError) as caught:
        client.apply([*bodies, {"id": "client-part-x", "where": "nn > 1", "stream": stream}])
    assert [(line["line"], line["id"]) for line in caught.value.lines] == [(31, "client-part-x")]
    assert list(client.list(prefix="client-part-")) == []
    assert client.apply(bodies)["registered"] == 30
    assert len(list(client.list(prefix="client-part-"))) == 30
    monkeypatch.setattr("broker.client.client.PART_BYTES", 0)
    assert client.apply(bodies, dry_run=True)["unchanged"] == 30
    with pytest.raises(RefusedError):
        client.apply(bodies, replaces=False)
