"""Queries that are set aside when the daemon starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from broker.daemon.daemon import Daemon
from broker.errors import UnknownQueryError

if TYPE_CHECKING:
    from conftest import Site
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def test_what_is_set_aside_is_kept_and_not_served_until_it_is_registered_anew(site: Site, spark: SparkSession) -> None:
    aside = site.register("aside", "n > 0")["query"]
    other = site.register("other", "n > 0")["query"]["topic"]
    assert site.daemon is not None
    site.daemon.stop()
    with pytest.raises(UnknownQueryError, match="unknown query 'typo'"):
        Daemon(site.config, spark=spark, set_aside=["aside", "typo"]).start()
    site.daemon = Daemon(site.config, spark=spark, set_aside=["aside"])
    site.daemon.start()
    found = site.client.get("/v1/queries/aside").json()
    changing = ("served", "reason", "delivered")
    assert {name: found[name] for name in aside if name not in changing} == {
        name: aside[name] for name in aside if name not in changing
    }
    assert (found["served"], "(--set-aside)" in found["reason"]) == (False, True)
    # The change of another query serves nothing that is set aside.
    site.register("third", "n > 1")
    (first,) = site.publish([b'{"n": 2}'])
    site.drain()
    assert [record.offset for record in site.read(other)] == [first]
    assert site.read(aside["topic"]) == []
    site.register("aside", "n > 0", aside["topic"])
    assert site.client.get("/v1/queries/aside").json()["served"]
    (second,) = site.publish([b'{"n": 2}'])
    site.drain()
    assert [record.offset for record in site.read(aside["topic"])] == [second]


@pytest.mark.nightly
def test_a_record_that_cannot_be_read_is_kept_shown_and_replaced_or_removed(site: Site) -> None:
    from kafka import KafkaProducer

    good = site.register("good", "n > 100")["query"]
    assert site.daemon is not None
    site.daemon.stop()
    producer = KafkaProducer(bootstrap_servers=site.bootstrap_servers)
    for query_id, value in (("newer", b'{"v":3,"where":"n > 1"}'), ("broken", b'{"where"'), ("bytes", b"\xff" * 5_000)):
        producer.send(site.config.kafka.registry_topic, value, query_id.encode())
    producer.send(
        site.config.kafka.registry_topic,
        f'{{"stream":"{site.stream("json")}","where":"n > 7"}}'.encode(),
        b"older",
    )
    producer.close()
    site.daemon = site.start()
    shown = {one["id"]: one for one in site.client.get("/v1/queries").json()["queries"]}
    assert {i: shown[i]["served"] for i in ("newer", "broken", "bytes", "older", "good")} == {
        **dict.fromkeys(("newer", "broken", "bytes"), False),
        **dict.fromkeys(("older", "good"), True),
    }
    assert (shown["newer"]["where"], shown["older"]["topic"]) == ('{"v":3,"where":"n > 1"}', "asc.older")
    assert "is of form 3, and 1 and 2 are known" in shown["newer"]["reason"]
    assert len(shown["bytes"]["where"]) < 1_100
    # No part of it can be changed, nor is it lost by what happens to others.
    answer = site.client.put("/v1/queries/newer", json={"paused": True})
    assert (answer.status_code, "is not to be changed in part" in answer.text) == (400, True)
    site.register("good", "n > 101", good["topic"])
    site.daemon.stop()
    site.daemon = site.start()
    assert site.client.get("/v1/queries/newer").json() == shown["newer"]
    assert site.client.delete("/v1/queries/broken").status_code == 200
    assert site.register("newer", "n > 1")["query"]["served"]
    assert site.client.get("/v1/queries/broken").status_code == 404
