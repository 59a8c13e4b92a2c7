"""A real stream whose data change: the sequences follow, it shows everywhere, and no match is another one for it."""

from __future__ import annotations

import json
import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

from asc.evaluation.executor import match
from asc.plan.block import Block
from asc.plan.compiler import compile_plan
from asc.plan.plan import Plan
from broker.config.config import Config, parse_config
from broker.monitoring.arrangement import SampledTuples
from cli.main import main
from workloads.drifting_tuples import turning
from workloads.placed_alerts import MEASURES, PLACES, placed_alerts

if TYPE_CHECKING:
    from conftest import Site

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

LAMBDA = 4_000
ATTRIBUTES, DOMAIN = 40, 1_000
WORKLOAD = placed_alerts(1_000, attributes=ATTRIBUTES, domain=DOMAIN)
TURNING = turning(1, measures=MEASURES, places=PLACES, attributes=ATTRIBUTES)


@pytest.fixture(scope="module")
def site(kafka: EmbeddedKafka, site_of: Callable[[Config], Site], tmp_path_factory: pytest.TempPathFactory) -> Site:
    own = uuid.uuid4().hex[:12]
    folder: Path = tmp_path_factory.mktemp("monitored")
    fields = ", ".join(f"{name} INT" for name in WORKLOAD.names)
    config = parse_config(
        {
            "kafka": {"bootstrap_servers": kafka.bootstrap_servers, "registry_topic": f"registry-{own}"},
            "api": {"port": 0},
            "spark": {
                "checkpoint_dir": str(folder),
                "master": "local[2]",
                "max_records_per_batch": LAMBDA,
                "warm_up_s": 0,
            },
            "streams": {f"numbers-{own}": {"topic": f"source-{own}", "format": "json", "schema": fields}},
            "monitor": {"lambda_tuples": LAMBDA, "sample_tuples": 1_000, "max_core_share": 1.0},
        }
    )

    site = site_of(config)
    lines = [
        json.dumps({"id": f"q{number}", "where": text, "topic": site.topic("all")})
        for number, text in enumerate(WORKLOAD.texts())
    ]
    loaded = site.client.post("/v1/queries", content="\n".join(lines), headers={"content-type": "application/x-ndjson"})
    assert loaded.status_code == 200, loaded.text
    return site


def tuples(rows: int, *, calm: bool, seed: int) -> pa.Table:
    """While all is calm the constructs of the measures rule the alerts out, while there is alarm those of the places:
    after either a tuple is done with, and before it nearly none.
    """
    place = 0.0 if calm else 1.0
    return TURNING.tuples(place, rows, domain=DOMAIN, random=np.random.default_rng(seed))


@pytest.fixture(autouse=True)
def _without_a_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if each construct took a second: whether what was found is put in place does not hang on the machine."""
    timed = SampledTuples.timed

    def by_constructs(sampled: SampledTuples, blocks: Sequence[Block]) -> tuple[list[float], list[int]]:
        _, counts = timed(sampled, blocks)
        return [float(own) for own in counts], counts

    monkeypatch.setattr(SampledTuples, "timed", by_constructs)


def monitored(site: Site) -> dict[str, Any]:
    (stream,) = site.client.get("/v1/plan").json()["streams"].values()
    found: dict[str, Any] = stream["monitor"]
    return found


def until(site: Site, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    deadline = time.monotonic() + 120
    while not condition(found := monitored(site)):
        assert time.monotonic() < deadline, found
        time.sleep(0.05)
    return found


def cost_of(site: Site, tuples: pa.Table) -> float:
    """Publish lambda tuples; the constructs evaluated for one of them, as the job counted it."""
    before = monitored(site)
    site.publish([json.dumps(row).encode() for row in tuples.to_pylist()])
    after = until(site, lambda now: now["tuples"] >= before["tuples"] + tuples.num_rows)
    return float((after["evaluated"] - before["evaluated"]) / (after["tuples"] - before["tuples"]))


def running_plan(site: Site) -> Plan:
    assert site.daemon is not None
    (stream,) = site.daemon.streams().values()
    return stream.running.plan


def evaluated(plan: Plan, tuples: pa.Table) -> int:
    """The constructs that a plan evaluates for tuples: what the job counts of them hangs on how batches fell."""
    columns = [tuples[attribute.sql] for attribute in plan.p_attributes]
    return match(plan, columns, tuples.num_rows, count_cost=True).evaluated


def settled(site: Site) -> dict[str, Any]:
    """What the monitor shows when it has looked at all that was published."""
    assert site.daemon is not None
    (monitor,) = (stream.monitor for stream in site.daemon.streams().values())
    deadline = time.monotonic() + 60
    while monitor.behind:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return monitored(site)


def test_the_cost_falls_again_within_lambda_after_the_data_changed(site: Site) -> None:
    calm, alarmed = tuples(3 * LAMBDA, calm=True, seed=3), tuples(2 * LAMBDA, calm=False, seed=4)
    cost_of(site, calm.slice(0, LAMBDA))
    first = settled(site)
    assert first["rearrangements"][0]["trigger"] == "unmeasured"
    cost_of(site, calm.slice(LAMBDA, LAMBDA))
    cost_of(site, calm.slice(2 * LAMBDA, LAMBDA))
    before = len(settled(site)["rearrangements"])
    old = running_plan(site)

    cost_of(site, alarmed.slice(0, LAMBDA))
    events = settled(site)["rearrangements"][before:]
    assert [event["trigger"] for event in events] == ["cost"]
    (event,) = events
    # The sample mixes tuples of both times, by how batches fell; the mixture decides how much less the cost is.
    assert event["cost_after"] < event["cost_before"]
    assert event["spent_s"] > 0
    later = alarmed.slice(LAMBDA, LAMBDA)
    assert evaluated(running_plan(site), later) < 0.75 * evaluated(old, later)
    cost_of(site, later)

    # Swaps in mid-stream lost nothing and doubled nothing.
    plan = compile_plan(WORKLOAD.standing_queries())
    wanted: Counter[int] = Counter()
    for table in (calm, alarmed):
        matches = match(plan, [table[a.sql] for a in plan.p_attributes], table.num_rows)
        wanted.update(matches.queries.tolist())
    site.drain()
    found = Counter(int(query[1:]) for record in site.read(site.topic("all")) for query in record.queries)
    assert found == wanted


def test_what_the_monitor_did_is_in_the_plan_the_metrics_and_the_status(site: Site) -> None:
    assert site.daemon is not None
    (stream,) = site.config.streams
    answer = site.client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = dict(line.rsplit(" ", 1) for line in answer.text.splitlines() if not line.startswith("#"))
    shown = monitored(site)
    assert float(lines[f'asc_tuples_total{{stream="{stream}"}}']) == shown["tuples"]
    assert float(lines[f'asc_queries{{stream="{stream}"}}']) == 1_000
    counted = {
        trigger: float(lines[f'asc_rearrangements_total{{stream="{stream}",trigger="{trigger}"}}'])
        for trigger in shown["rearrangement_counts"]
    }
    assert counted == shown["rearrangement_counts"]
    status = CliRunner().invoke(main, ["status", "--server", site.daemon.url])
    assert status.exit_code == 0, status.output
    last = shown["rearrangements"][-1]
    assert f"{last['at']}  {stream} block 0: {last['trigger']}, dropping ratio " in status.output


@pytest.mark.nightly
def test_the_monitor_is_switched_off_without_a_restart(site: Site) -> None:
    assert site.daemon is not None
    config = site.config
    off = config.model_copy(update={"monitor": config.monitor.model_copy(update={"enabled": False, "mu": 0.0})})
    site.daemon.reload(off)
    before = settled(site)
    cost_of(site, tuples(2 * LAMBDA, calm=True, seed=5))
    after = settled(site)
    assert (after["enabled"], after["rearrangement_counts"]) == (False, before["rearrangement_counts"])
    assert after["sampled"] == before["sampled"]
    site.daemon.reload(config)
    cost_of(site, tuples(LAMBDA, calm=True, seed=6))
    assert len(settled(site)["rearrangements"]) > len(before["rearrangements"])


def test_a_batch_has_as_many_records_as_the_limit_and_no_more(site: Site) -> None:
    assert site.daemon is not None
    (stream,) = site.daemon.streams().values()
    query = stream.job._query
    assert query is not None
    assert site.config.spark.max_records_per_batch == LAMBDA
    cost_of(site, tuples(2 * LAMBDA + 1, calm=True, seed=7))
    assert 0 < max(progress.numInputRows for progress in query.recentProgress) <= LAMBDA
