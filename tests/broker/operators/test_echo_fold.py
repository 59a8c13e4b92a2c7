"""A kind of the handoff ``fold`` that tests alone have: in the table it is whole, without a change anywhere else."""

from __future__ import annotations

import json
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from pyspark import cloudpickle

import tests.broker.fold_echo as echo
from broker.config.config import Config, parse_config
from broker.operators.kinds import OPERATORS
from cli.checking import Check
from cli.main import main

if TYPE_CHECKING:
    from conftest import Site

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def site(
    site_of: Callable[[Config], Site], kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    folder, own = tmp_path_factory.mktemp("echo-fold"), uuid.uuid4().hex[:12]
    stream = {"topic": f"source-fold-{own}", "format": "json", "schema": "name STRING, n INT"}
    config = parse_config(
        {
            "kafka": {"bootstrap_servers": kafka.bootstrap_servers, "registry_topic": f"registry-{own}"},
            "api": {"port": 0},
            "spark": {"checkpoint_dir": str(folder / "checkpoint"), "master": "local[2]", "warm_up_s": 0.1},
            "streams": {f"fold-{own}": stream},
        }
    )
    # Workers cannot import a test.
    cloudpickle.register_pickle_by_value(sys.modules[echo.__name__])
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(OPERATORS, echo.OP, echo.EchoKind())  # type: ignore[arg-type]
        yield site_of(config)


def register(site: Site, query_id: str, where: str = "n > 1", key: str = "upper(name)") -> dict[str, Any]:
    # A query counts from the next batch on, which may have records that another test has published.
    site.drain()
    operator = {"name": echo.OP, "key": key}
    found: dict[str, Any] = site.register(query_id, where, site.topic(query_id), operator=operator)
    return found


def publish(site: Site, *names: str | None, n: int = 5) -> list[int]:
    return site.publish([json.dumps({"name": name, "n": n}).encode() for name in names])


def folder(site: Site) -> echo.EchoFolder:
    assert site.daemon is not None
    found = site.daemon.streams()[site.stream("json")].folders[echo.OP]
    assert isinstance(found, echo.EchoFolder)
    return found


def totals(site: Site, query_id: str) -> dict[str, int]:
    """What is counted of a query, once every record that was published is through the job."""
    site.drain()
    return folder(site).by_key.get(query_id, {})


def asc(site: Site, *arguments: str) -> str:
    """What a command writes."""
    assert site.daemon is not None
    done = CliRunner().invoke(main, [*arguments, "--server", site.daemon.url], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_a_kind_in_the_table_has_the_life_of_every_other(site: Site, tmp_path: Path) -> None:
    added = register(site, "f1")
    query = added["query"]
    summary = {"name": echo.OP, "key": "upper(name)", "time": "_timestamp", "summary": "counts upper(name)"}
    assert query["operator"] == summary
    assert site.client.post("/v1/queries", json=query).json()["change"] == "unchanged"
    listed = site.client.get("/v1/queries", params={"operator": echo.OP}).json()["queries"]
    assert [each["id"] for each in listed] == ["f1"]
    assert "counts upper(name)" in asc(site, "query", "list", "--operator", echo.OP)
    assert "echo: counts upper(name)" in asc(site, "query", "show", "f1")
    publish(site, "ada", None, "bob", "ada")
    publish(site, "not accepted", n=0)
    assert totals(site, "f1") == {"ADA": 2, "": 1, "BOB": 1}
    assert site.read(site.topic("f1")) == []
    # Accepted records are delivered ones to those who count them.
    assert site.client.get("/v1/queries/f1").json()["delivered"] == 4
    file, stream = tmp_path / "folds.ndjson", site.stream("json")
    line = {"id": "f2", "where": "n > 7", "stream": stream, "topic": site.topic("f2"), "operator": query["operator"]}
    file.write_text(json.dumps(line))
    assert "1 registered" in asc(site, "query", "apply", str(file))
    assert site.client.put("/v1/queries/f1", json={"paused": True}).status_code == 200
    publish(site, "cy", n=9)
    assert totals(site, "f2") == {"CY": 1}
    assert site.client.put("/v1/queries/f1", json={"paused": False}).status_code == 200
    publish(site, "dan")
    assert totals(site, "f1") == {"ADA": 2, "": 1, "BOB": 1, "DAN": 1}
    for query_id in ("f1", "f2"):
        assert site.client.delete(f"/v1/queries/{query_id}").status_code == 200
    publish(site, "gone", n=9)
    assert "GONE" not in {**totals(site, "f1"), **totals(site, "f2")}


def test_it_is_in_plan_metrics_console_and_openapi(site: Site) -> None:
    register(site, "f3", key="name")
    publish(site, "eve", "x" * (echo.LARGEST_CHARS + 1))
    assert totals(site, "f3") == {"eve": 1}
    stream = site.stream("json")
    plan = site.client.get("/v1/plan").json()["streams"][stream]["operators"][echo.OP]
    assert (plan["queries"], plan["excluded"], plan["problem"]) == (1, {"too_large": 1}, None)
    assert plan["held"] >= 1
    assert plan["observations"] >= 1
    metrics = site.client.get("/metrics").text
    for sample in (
        f'asc_operator_excluded_total{{operator="echo",reason="too_large",stream="{stream}"}} 1.0',
        f'asc_operator_queries{{operator="echo",stream="{stream}"}} 1.0',
    ):
        assert sample in metrics
    page = site.client.get("/console/queries/f3").text
    assert "counts name" in page
    assert all(f"<dt>{row}</dt>" in page for row in ("keys held", "records counted since start", "excluded: too_large"))
    assert "of the feed" not in page
    assert "failures of the reader" not in page
    assert "keep" in site.client.get("/v1/plan").json()["streams"][stream]["phases"]
    assert f'asc_operator_lag_records{{operator="echo",stream="{stream}"}}' not in metrics
    schemas = site.client.get("/openapi.json").json()["components"]["schemas"]
    assert schemas["EchoBody"]["properties"]["key"]["description"] == "The expression that is counted."
    assert site.client.delete("/v1/queries/f3").status_code == 200


def test_a_check_answers_its_estimate_in_its_own_form(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    publish(site, *("kim", "lea", "kim"), n=77)
    body = {"where": "n = 77", "stream": site.stream("json"), "operator": {"name": echo.OP, "key": "name"}}
    deadline = time.monotonic() + 60
    while (found := site.client.post("/v1/check", json=body).json())["estimate"]["keys"] != 2:
        assert time.monotonic() < deadline, found
        time.sleep(0.2)
    estimate = found["estimate"]
    assert estimate == {"name": echo.OP, "text": estimate["text"], "keys": 2}
    assert estimate["text"].startswith("2 keys of ")
    assert found["warnings"] == []
    none = site.client.post("/v1/check", json={**body, "where": "n = 78"}).json()
    assert (none["estimate"]["keys"], none["warnings"]) == (0, ["few keys"])
    document = site.client.get("/openapi.json").json()["components"]["schemas"]
    assert document["EchoEstimate"]["properties"]["keys"]["description"] == "Different keys."
    union, _ = document["CheckedModel"]["properties"]["estimate"]["anyOf"]
    assert set(union["discriminator"]["mapping"]) == {"cube", echo.OP}
    # The command line prints it, and knows no kind either.
    assert site.daemon is not None
    check = Check(None, site.stream("json"), None, (site.daemon.url, None, None), as_json=False)
    check.show("n = 77", {"name": echo.OP, "key": "name"})
    assert capsys.readouterr().out.splitlines()[-1] == estimate["text"]


def test_records_of_aborted_transactions_and_made_up_ones_are_not_counted(site: Site) -> None:
    from kafka import KafkaProducer

    register(site, "f4", "true")
    topic = site.config.streams[site.stream("json")].topic
    producer = KafkaProducer(bootstrap_servers=site.bootstrap_servers, transactional_id=uuid.uuid4().hex)
    try:
        producer.init_transactions()
        for name, commits in (("never", False), ("kept", True), ("nor this", False)):
            producer.begin_transaction()
            producer.send(topic, json.dumps({"name": name, "n": 5}).encode(), partition=0)
            producer.flush()
            if commits:
                producer.commit_transaction()
            else:
                producer.abort_transaction()
    finally:
        producer.close()
    assert totals(site, "f4") == {"KEPT": 1}
    assert site.client.delete("/v1/queries/f4").status_code == 200


def test_a_query_whose_state_fails_is_parked_and_others_go_on(site: Site) -> None:
    register(site, "good", "n < 10")
    register(site, "bad", "n = 31")
    publish(site, "flo")
    publish(site, echo.POISON.lower(), n=31)
    deadline = time.monotonic() + 120
    while (found := site.client.get("/v1/queries/bad").json())["served"]:
        assert time.monotonic() < deadline, found
        time.sleep(0.1)
    assert "is parked, for its state failed: this key is: change it" in found["reason"]
    assert site.client.get("/v1/queries/good").json()["served"]
    assert site.client.delete("/v1/queries/good").status_code == 200
    # Registered anew it is served.
    site.client.delete("/v1/queries/bad")
    register(site, "bad", "n = 31")
    publish(site, "gil", n=31)
    assert totals(site, "bad") == {"GIL": 1}
    assert site.client.get("/v1/queries/bad").json()["served"]
    assert site.client.delete("/v1/queries/bad").status_code == 200


def daemon_part(site: Site) -> echo.EchoDaemonPart:
    assert site.daemon is not None
    part = site.daemon.daemon_part(echo.OP)
    assert isinstance(part, echo.EchoDaemonPart)
    return part


def test_it_survives_a_batch_that_is_run_again_and_a_restart(site: Site) -> None:
    register(site, "f5")
    routed = site.topic("beside")
    site.register("beside", "n > 1", routed)
    publish(site, "hal", "ian")
    assert totals(site, "f5") == {"HAL": 1, "IAN": 1}
    publish(site, "hal")
    deadline = time.monotonic() + 180
    while len(site.read(routed)) < 3 or folder(site).by_key["f5"] != {"HAL": 2, "IAN": 1}:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    part = daemon_part(site)
    while part.calls[-1:] != ["keep_up"]:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    site.stop_before_its_commit()
    assert part.calls == ["load", "keep_up", "close"]
    site.daemon = site.start()
    assert daemon_part(site) is not part
    publish(site, "jan")
    assert totals(site, "f5") == {"HAL": 2, "IAN": 1, "JAN": 1}
    # The batch was delivered again, and counted once.
    assert len(site.read(routed)) == 5
