"""A kind that tests alone have: in the table it is whole, without a change anywhere else."""

from __future__ import annotations

import json
import re
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from pyspark import cloudpickle

from broker.config.config import Config, parse_config
from broker.operators.feed_destination import FeedDestination
from broker.operators.kinds import OPERATORS, ROUTE
from cli.main import main
from tests.broker import feed_echo
from tests.broker.feed_echo import OP, SMALL, EchoDefinition, EchoKind

if TYPE_CHECKING:
    from conftest import Received, Site

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def site(
    site_of: Callable[[Config], Site], kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    folder, own = tmp_path_factory.mktemp("echo"), uuid.uuid4().hex[:12]
    stream = {"topic": f"source-echo-{own}", "format": "json", "schema": "name STRING, n INT"}
    config = parse_config(
        {
            "kafka": {"bootstrap_servers": kafka.bootstrap_servers, "registry_topic": f"registry-{own}"},
            "api": {"port": 0},
            "spark": {"checkpoint_dir": str(folder / "checkpoint"), "master": "local[2]", "warm_up_s": 0, **SMALL},
            "streams": {f"echo-{own}": stream},
        }
    )
    # Workers cannot import a test.
    cloudpickle.register_pickle_by_value(sys.modules[feed_echo.__name__])
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(OPERATORS, OP, EchoKind())  # type: ignore[arg-type]
        yield site_of(config)


def body(query_id: str, where: str = "n > 1", **more: Any) -> dict[str, Any]:
    return {"id": query_id, "where": where, "operator": {"name": OP, "key": "upper(name)", **more}}


def publish(site: Site, *names: str | None, n: int = 5) -> list[int]:
    return site.publish([json.dumps({"name": name, "n": n}).encode() for name in names])


def echoes(site: Site, topic: str, count: int) -> list[Received]:
    """The echoes in a topic, once there are so many of different identities, each once."""
    deadline = time.monotonic() + 180
    found: dict[bytes | None, Received] = {}
    while len(found) < count:
        assert time.monotonic() < deadline, (found, site.daemon and site.daemon.readiness())
        for record in site.read(topic):
            found.setdefault(dict(record.headers)["asc-event"], record)
        time.sleep(0.2)
    # Objects are in parts of their own, and so in no order.
    return sorted(found.values(), key=lambda record: record.offset)


def asc(site: Site, *arguments: str) -> str:
    """What a command writes."""
    assert site.daemon is not None
    done = CliRunner().invoke(main, [*arguments, "--server", site.daemon.url], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def heard(site: Site, topic: str, *names: str) -> None:
    """A record that another query accepts comes last: what came before it for others has been read by then."""
    sentinel = f"SENTINEL-{uuid.uuid4().hex[:8]}".upper()
    publish(site, *names, sentinel.lower())
    deadline = time.monotonic() + 180
    while sentinel.encode() not in {record.key for record in site.read(topic)}:
        assert time.monotonic() < deadline, site.daemon and site.daemon.readiness()
        time.sleep(0.2)
    # Each part of the feed is read in order, and other parts with the batches after it.
    deadline = time.monotonic() + 180
    while site.client.get("/v1/plan").json()["streams"][site.stream("json")]["operators"][OP]["lag_records"] != 0:
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_a_kind_in_the_table_has_the_life_of_every_other(site: Site) -> None:
    topic = site.topic("echoes")
    added = site.client.post("/v1/queries", json={**body("e1", says="hallo"), "topic": topic})
    assert added.status_code == 201, added.text
    query = added.json()["query"]
    assert query["operator"] == {
        "name": OP,
        "key": "upper(name)",
        "says": "hallo",
        "summary": "echoes upper(name), saying hallo",
    }
    # An answer is a body; the same again changes nothing.
    assert site.client.post("/v1/queries", json=query).json()["change"] == "unchanged"
    listed = site.client.get("/v1/queries", params={"operator": OP}).json()["queries"]
    assert [each["id"] for each in listed] == ["e1"]
    assert site.client.get("/v1/queries/e1").json()["operator"]["summary"] == "echoes upper(name), saying hallo"
    # The command line knows no kind either.
    listed_text = asc(site, "query", "list", "--operator", OP)
    assert "echoes upper(name), saying hallo" in listed_text
    assert "echo: echoes upper(name), saying hallo" in asc(site, "query", "show", "e1")
    (first, _, third) = publish(site, "ada", None, "bob")
    found = echoes(site, topic, 2)
    assert [(each.key, json.loads(each.value or b"")["says"]) for each in found] == [
        (b"ADA", "hallo"),
        (b"BOB", "hallo"),
    ]
    assert [each.offset for each in found] == [first, third]
    assert [each.queries for each in found] == [["e1"], ["e1"]]


def test_it_is_paused_resumed_applied_from_a_file_and_removed(site: Site, tmp_path: Path) -> None:
    topic, others = site.topic("applied"), site.topic("others")
    site.register("others", "n > 1", others, operator={"name": OP, "key": "upper(name)"})
    file, stream = tmp_path / "echoes.ndjson", site.stream("json")
    lines = [{**one, "stream": stream, "topic": topic} for one in (body("e2"), body("e3", "n > 100"))]
    file.write_text("\n".join(map(json.dumps, lines)))
    assert "2 registered" in asc(site, "query", "apply", str(file))
    publish(site, "cy")
    assert [each.key for each in echoes(site, topic, 1)] == [b"CY"]
    assert site.client.put("/v1/queries/e2", json={"paused": True}).status_code == 200
    heard(site, others, "unheard")
    assert site.client.put("/v1/queries/e2", json={"paused": False}).status_code == 200
    publish(site, "dan")
    assert [each.key for each in echoes(site, topic, 2)] == [b"CY", b"DAN"]
    for query_id in ("e2", "e3"):
        assert site.client.delete(f"/v1/queries/{query_id}").status_code == 200
    heard(site, others, "gone")
    assert {each.key for each in site.read(topic)}.isdisjoint({b"UNHEARD", b"GONE"})


def test_it_is_in_plan_metrics_console_and_openapi(site: Site) -> None:
    topic = site.topic("seen")
    site.register("e4", "n > 1", topic, operator={"name": OP, "key": "name"})
    publish(site, "eve", None)
    echoes(site, topic, 1)
    stream = site.stream("json")
    deadline = time.monotonic() + 60
    while True:
        plan = site.client.get("/v1/plan").json()["streams"][stream]["operators"][OP]
        metrics = site.client.get("/metrics").text
        samples = [
            f'asc_operator_outputs_total{{operator="echo",stream="{stream}",type="echo"}}',
            f'asc_operator_excluded_total{{operator="echo",reason="key",stream="{stream}"}}',
            f'asc_operator_queries{{operator="echo",stream="{stream}"}}',
        ]
        if plan["outputs"].get("echo") and plan["excluded"].get("key") and all(each in metrics for each in samples):
            break
        assert time.monotonic() < deadline, (plan, metrics)
        time.sleep(0.2)
    assert plan["queries"] >= 1
    assert plan["problem"] is None
    page = site.client.get("/console/queries/e4").text
    assert "echo" in page
    assert "echoes name, saying here" in page
    # Of its reader, and so of all queries of the kind.
    rows = ("observations held", "records of the feed behind", "failures of the reader", "excluded: key")
    assert all(f"<dt>{row}</dt>" in page for row in rows)
    assert re.search(r"<dt>watermark of .*unix_micros\(_timestamp\)", page)
    schemas = site.client.get("/openapi.json").json()["components"]["schemas"]
    assert schemas["EchoBody"]["properties"]["says"]["description"] == "A text."


@pytest.mark.nightly
@pytest.mark.slow
def test_its_expression_that_ends_batches_is_found_and_parked(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    honest, unlucky = EchoKind.destination, "if(n = 31, CAST(raise_error('unlucky') AS STRING), name)"

    def destination(self: EchoKind, definition: EchoDefinition, *given: Any) -> FeedDestination:
        """One whose key means an expression that fails on a record, as none that is taken does."""
        made = honest(self, definition, *given)
        return replace(made, track=replace(made.track, key=unlucky)) if definition.key == "lower(name)" else made

    monkeypatch.setattr(EchoKind, "destination", destination)
    topic, others = site.topic("unlucky"), site.topic("lucky")
    site.register("lucky", "n > 1", others, operator={"name": OP, "key": "upper(name)"})
    site.register("unlucky", "n > 1", topic, operator={"name": OP, "key": "lower(name)"})
    publish(site, "flo", n=31)
    assert [each.key for each in echoes(site, others, 1)] == [b"FLO"]
    deadline = time.monotonic() + 300
    while (found := site.client.get("/v1/queries/unlucky").json())["served"]:
        assert time.monotonic() < deadline, found
        time.sleep(0.1)
    assert f'its expression "{unlucky}" ends a batch (' in found["reason"]
    assert site.client.get("/v1/queries/lucky").json()["served"]
    heard(site, others, "gil")
    assert site.read(topic) == []


@pytest.mark.parametrize(
    ("operator", "said"),
    [
        ({"name": OP}, "operator 'echo': has no key"),
        (
            {"name": OP, "key": "name", "dwell_s": 1},
            "field operator 'dwell_s': is not known: known are name",
        ),
        ({"name": OP, "key": "nope"}, "operator.key 'nope': "),
        (
            {"name": "ecko", "key": "name"},
            f"operator 'ecko': is not known: known are {', '.join((ROUTE, *OPERATORS, OP))}",
        ),
    ],
)
def test_a_wrong_one_is_refused_in_one_line(site: Site, operator: dict[str, Any], said: str) -> None:
    answer = site.client.post("/v1/queries", json={"id": "wrong", "where": "n > 1", "operator": operator})
    assert answer.status_code == 400
    message = answer.json()["error"]["message"].replace('"', "'")
    assert message.startswith(said), message
    assert "\n" not in message


@pytest.mark.nightly
def test_it_survives_a_batch_that_is_run_again_and_a_restart(site: Site) -> None:
    topic = site.topic("replayed")
    site.register("e5", "n > 1", topic, operator={"name": OP, "key": "name", "says": "before"})
    publish(site, "fay")
    echoes(site, topic, 1)
    publish(site, "gil")
    echoes(site, topic, 2)
    # Replaced after the batch: the batch that is run again has the definition of its own version.
    site.register("e5", "n > 1", topic, operator={"name": OP, "key": "name", "says": "after"})
    site.stop_before_its_commit()
    site.daemon = site.start()
    publish(site, "hal")
    found = echoes(site, topic, 3)
    says = [(each.key, json.loads(each.value or b"")["says"]) for each in found]
    assert says == [(b"fay", "before"), (b"gil", "before"), (b"hal", "after")]
    every = [dict(each.headers)["asc-event"] for each in site.read(topic)]
    assert len(every) == 3
