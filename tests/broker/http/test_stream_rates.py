"""What flows, as the API shows it: of a real job, and to whom."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from broker.access.scope import Scope
from broker.errors import ForbiddenError
from broker.http.stream_rates import described_deliveries, described_timeline
from broker.http.views import described_plans
from broker.queries.query import RegisteredQuery

if TYPE_CHECKING:
    from conftest import Resting, Site

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def flow(site: Site) -> dict[str, Any]:
    found: dict[str, Any] = site.client.get("/v1/plan").json()["streams"][site.stream("json")]["flow"]
    return found


def test_what_was_delivered_is_counted(site: Site) -> None:
    topic = site.register("every", "n > 0")["query"]["topic"]
    site.register("few", "n > 8", topic)
    site.register("none", "n > 100")
    site.publish([*(b'{"n": %d}' % n for n in range(10)), b"not a record"])
    site.drain()
    counts = {name: site.client.get(f"/v1/queries/{name}").json()["delivered"] for name in ("every", "few", "none")}
    assert counts == {"every": 9, "few": 1, "none": 0}
    listed = {query["id"]: query["delivered"] for query in site.client.get("/v1/queries").json()["queries"]}
    assert listed == counts
    deliveries = site.client.get("/v1/queries/every/deliveries").json()
    assert (deliveries["delivered"], sum(minute["records"] for minute in deliveries["minutes"])) == (9, 9)
    moments = site.client.get(f"/v1/streams/{site.stream('json')}/timeline").json()["moments"]
    # Two queries in one topic are one record.
    sums = {
        name: sum(moment[name] for moment in moments) for name in ("records", "accepted", "written", "dead_letters")
    }
    assert sums == {"records": 11, "accepted": 9, "written": 9, "dead_letters": 1}
    assert 0 < moments[-1]["latency_p50_s"] < 120
    assert flow(site)["records_per_s"] > 0
    deadline = time.monotonic() + 120
    while flow(site)["lag_records"] != 0:
        assert time.monotonic() < deadline, flow(site)
        time.sleep(0.05)
    # One that is replaced goes on counting; one that was paused begins anew.
    site.client.put("/v1/queries/every", json={"where": "n > 1"}).raise_for_status()
    for paused in (True, False):
        site.client.put("/v1/queries/few", json={"paused": paused}).raise_for_status()
        site.publish([b'{"n": 9}'])
        site.drain()
    counts = {name: site.client.get(f"/v1/queries/{name}").json()["delivered"] for name in ("every", "few")}
    assert counts == {"every": 11, "few": 1}
    assert site.client.get("/v1/streams/nowhere/timeline").status_code == 400
    assert site.client.get("/v1/queries/nobody/deliveries").status_code == 404


def test_one_who_sees_some_queries_is_not_told_of_the_others(resting: Resting) -> None:
    within = resting.within(Scope("ops", id_prefix="ops-"))
    stream = resting.streams()[resting.stream("json")]
    with pytest.raises(ForbiddenError, match="tells of queries that token 'ops' does not see"):
        described_timeline(within, stream)
    rates = described_plans(within)[stream.name]["flow"]
    assert set(rates) == {"lag_records", "records_per_s", "latency_p50_s", "latency_p99_s"}
    assert {"accepted_per_s", "written_per_s"} < set(described_plans(resting.permitted)[stream.name]["flow"])


def test_a_query_whose_stream_is_not_configured_was_given_nothing(resting: Resting) -> None:
    gone = RegisteredQuery("of-gone", "gone", "n > 1", "t", version=1)
    assert described_deliveries(resting.permitted, gone) == {"delivered": 0, "minutes": []}
