"""Records in, records out: what arrives in the topics of the queries, through a running daemon."""

from __future__ import annotations

import json
import random
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Site

pytestmark = [pytest.mark.kafka, pytest.mark.spark]
FORMATS = ("json", "csv")


@pytest.mark.nightly
def test_a_stream_without_queries_runs_and_fills_its_dead_letters(site: Site) -> None:
    (offset,) = site.publish([b"no comma"], "csv")
    site.drain("csv")
    dead = site.config.dead_letter_topic(site.stream("csv"))
    assert [record.value for record in site.read(dead) if record.offset == offset] == [b"no comma"]


def test_a_plan_of_nothing_but_match_all_queries(site: Site) -> None:
    topic = site.register("whatever", "TRUE", stream="csv")["query"]["topic"]
    offsets = site.publish([b"1,a", b"2", b","], "csv")
    site.drain("csv")
    assert [record.offset for record in site.read(topic)] == [offsets[0], offsets[2]]
    assert site.client.delete("/v1/queries/whatever").status_code == 200


def test_a_record_arrives_once_in_each_topic_that_accepts_it(site: Site) -> None:
    shared, own = site.topic("shared"), site.topic("own")
    site.register("b-many", "n >= 10", shared)
    site.register("a-even", "n % 2 = 0", shared)
    site.register("named", "s LIKE 'x%' OR place.city = 'Oslo'", own)
    values = [
        b'{"n": 10, "s": "xy"}',
        b'{"n":   3,  "s": "a"}',
        b'{"n": 11, "place": {"city": "Oslo"}, "unknown": true}',
        '{"n": 4, "s": "bl\u00e5"}'.encode(),
        b"{}",
    ]
    offsets = site.publish(values, headers=[("trace", b"\x00\xff"), ("trace", b"")])
    site.drain()
    source = site.config.streams[site.stream("json")].topic
    accepted = [record for record in site.read(shared) if record.offset in offsets]
    assert [(record.offset - offsets[0], record.queries) for record in accepted] == [
        (0, ["a-even", "b-many"]),
        (2, ["b-many"]),
        (3, ["a-even"]),
    ]
    for record in accepted:
        assert record.key == b"k"
        assert record.value == values[record.offset - offsets[0]]
        assert record.source == f"{source}-0-{record.offset}"
        assert record.headers[:2] == [("trace", b"\x00\xff"), ("trace", b"")]
        assert [key for key, _ in record.headers[2:]] == [
            *["asc-query"] * len(record.queries),
            *("asc-source", "asc-timestamp"),
        ]
    assert [(r.offset - offsets[0], r.queries) for r in site.read(own) if r.offset in offsets] == [
        (0, ["named"]),
        (2, ["named"]),
    ]


def test_keys_come_byte_for_byte_and_may_be_missing(site: Site) -> None:
    topic = site.register("keys", "_key = 'k1' OR _key IS NULL")["query"]["topic"]
    keys = [b"k1", None, b"\xff\xfe", b"k2", b""]
    offsets = site.publish([b"{}"] * len(keys), keys=keys)
    site.drain()
    # A key that is not text is NULL to a predicate, and itself to a consumer.
    assert [r.key for r in site.read(topic) if r.offset in offsets] == [b"k1", None, b"\xff\xfe"]


def test_whatever_a_record_is_made_of_arrives_as_it_came(site: Site) -> None:
    """Keys, values, headers and timestamps of many kinds: accepted, or among the dead letters."""
    from confluent_kafka import Producer

    drawn = random.Random(12)
    keys = [None, b"", b"k", b"\x00\xff\xfe", "ø".encode() * 100, bytes(range(256))]
    texts = [
        b"{}",
        b'{"n": 1, "s": "\\u0000"}',
        b'  {"n":2}\t',
        b'{"s": "' + b"x" * 1_000_000 + b'"}',
        b'{"n": 3, "n": 4}',
    ]
    odd = [None, b"", b" ", b"\xff\x00\xfe", bytes(range(256)), b"[1]", b"\x80" * 1_000_000]
    headers = [("h", b""), ("h", None), ("h", b"\x00\xff"), ("h", b"again"), ("", b"no name"), ("ø", b"1" * 1_000)]
    topic = site.register("fuzzed", "TRUE")["query"]["topic"]
    source = site.config.streams[site.stream("json")].topic
    # kafka-python's producer takes no header without a value.
    producer = Producer({"bootstrap.servers": site.bootstrap_servers, "message.max.bytes": 4_000_000})
    sent = {}
    offsets: list[int] = []
    for number in range(120):
        # Two beside each other: one that is accepted, and one that is not.
        is_large = number % 40 < 2
        values = [value for value in (texts if number % 2 else odd) if is_large == (len(value or b"") > 100_000)]
        record = (
            drawn.choice(keys),
            drawn.choice(values),
            drawn.choices(headers, k=drawn.randrange(6)),
            round(time.time() * 1000) - drawn.randrange(86_400_000),
        )
        key, value, own, timestamp_ms = record
        producer.produce(
            source,
            value,
            key,
            partition=0,
            headers=own,
            timestamp=timestamp_ms,
            on_delivery=lambda _error, message: offsets.append(message.offset()),
        )
        producer.flush()
        sent[offsets[-1]] = record
    assert len(sent) == 120
    assert {texts[3], odd[-1]} <= {value for _, value, _, _ in sent.values()}
    site.drain()
    dead = site.config.dead_letter_topic(site.stream("json"))
    arrived = {record.offset: record for place in (topic, dead) for record in site.read(place) if record.offset in sent}
    assert arrived.keys() == sent.keys()
    for offset, (key, value, own, timestamp_ms) in sent.items():
        record = arrived[offset]
        assert (record.key, record.value) == (key, value)
        assert record.headers[: len(own)] == own
        assert record.headers[-1] == ("asc-timestamp", b"%d" % timestamp_ms)
    accepted = [record.offset for record in site.read(topic) if record.offset in sent]
    assert accepted == [offset for offset, (_, value, _, _) in sorted(sent.items()) if value in texts]


@pytest.mark.nightly
def test_headers_and_place_of_a_record_can_be_asked_for(site: Site) -> None:
    topic = site.register("headed", "_headers['kind'] = 'alarm' AND _partition = 0 AND _offset >= 0")["query"]["topic"]
    (alarm,) = site.publish([b"{}"], headers=[("kind", b"alarm")])
    site.publish([b"{}"], headers=[("kind", b"news")])
    site.drain()
    assert [record.offset for record in site.read(topic)] == [alarm]


def test_csv(site: Site) -> None:
    topic = site.register("csv-query", "n BETWEEN 2 AND 3 AND s <> 'no'", stream="csv")["query"]["topic"]
    values = [b"1,a", b'2,"quoted, ""comma"""', b"3,no", b"3,", b"3,yes", b"x,y", b"3"]
    offsets = site.publish(values, "csv")
    site.drain("csv")
    assert [record.value for record in site.read(topic)] == [values[1], values[4]]
    dead = [r for r in site.read(site.config.dead_letter_topic(site.stream("csv"))) if r.offset in offsets]
    assert [record.value for record in dead] == [b"x,y", b"3"]


def test_what_cannot_be_decoded_goes_to_the_dead_letters_and_nowhere_else(site: Site) -> None:
    # A query that an undecodable record would satisfy, were it judged.
    everything = site.register("everything", "n IS NULL OR n IS NOT NULL")["query"]["topic"]
    bad = [b"", b"{", b"\xff", b'{"n": "many"}', None]
    offsets = site.publish([b'{"n": 1}', *bad, b'{"n": 2}'], headers=[("h", b"1")])
    site.drain()
    assert [r.offset for r in site.read(everything) if r.offset in offsets] == [offsets[0], offsets[-1]]
    dead = [r for r in site.read(site.config.dead_letter_topic(site.stream("json"))) if r.offset in offsets]
    assert [record.value for record in dead] == bad
    assert [dict(record.headers)["asc-error"] for record in dead] == [
        b"value is empty",
        b"value is not a JSON record of the stream's schema: it is no JSON object, or not whole",
        b"value is not UTF-8 text",
        b"value is not a JSON record of the stream's schema: column 'n' holds no INT",
        b"value is null",
    ]
    for record in dead:
        assert record.key == b"k"
        assert record.headers[0] == ("h", b"1")
        assert record.source.endswith(f"-0-{record.offset}")


def test_records_of_one_key_keep_their_order(site: Site) -> None:
    topic = site.register("ordered", "n >= 0")["query"]["topic"]
    keys = [b"a", b"b", b"c"]
    for start in range(0, 6_000, 2_000):
        site.publish(
            [json.dumps({"n": n}).encode() for n in range(start, start + 2_000)],
            keys=[keys[n % 3] for n in range(start, start + 2_000)],
        )
    site.drain()
    found = site.read(topic)
    for i, key in enumerate(keys):
        assert [json.loads(r.value or b"")["n"] for r in found if r.key == key] == list(range(i, 6_000, 3))


def test_evaluation_errors_are_null_and_never_stop_the_stream(site: Site) -> None:
    topic = site.register("division", "n / 0 > 1")["query"]["topic"]
    site.register("cast", "CAST(s AS INT) > 1", topic)
    site.register("overflow", "n + 2147483647 < 0", topic)
    site.register("sane", "n = 1", topic)
    site.register("guarded", "d <> 0 AND n / d > 5", topic)
    site.register("either", "CAST(s AS INT) > 1 OR CAST(s AS INT) = -1 OR n / d > 3", topic)
    site.publish([b'{"n": 1, "s": "7", "d": 0}'])
    (offset,) = site.publish([b'{"n": 1, "s": "nonsense", "d": 1e400}'])
    site.drain()
    found = [record.queries for record in site.read(topic) if record.offset == offset]
    # Overflow wraps as in Spark with ANSI mode off.
    assert found == [["overflow", "sane"]]
    # Counted by query, once a record; what another term excludes is no error.
    counted = {
        name: site.client.get(f"/v1/queries/{name}").json()["evaluation_errors"]
        for name in ("division", "cast", "overflow", "sane", "guarded", "either")
    }
    assert counted == {"division": 2, "cast": 1, "overflow": 0, "sane": 0, "guarded": 0, "either": 2}
    metric = f'asc_evaluation_errors_total{{stream="{site.stream("json")}"}} 5.0'
    assert metric in site.client.get("/metrics").text
    site.register("division", "n / 0 > 2", topic)
    assert site.client.get("/v1/queries/division").json()["evaluation_errors"] == 0
    assert site.daemon is not None
    assert site.daemon.readiness() is None


def test_records_over_a_mebibyte_are_delivered_and_what_a_topic_cannot_take_is_a_dead_letter(site: Site) -> None:
    from kafka import KafkaProducer

    small = site.topic("small")
    site.create_topic(small, message_bytes_max=100_000)
    large = site.register("large", "n = 424242")["query"]["topic"]
    site.register("small", "n = 424242", small)
    value = b'{"n": 424242, "x": "' + b"x" * 3_000_000 + b'"}'
    producer = KafkaProducer(bootstrap_servers=site.bootstrap_servers, max_request_size=5_000_000)
    source = site.config.streams[site.stream("json")].topic
    offset = producer.send(source, value, key=b"k", partition=0).get(timeout=30).offset
    producer.close()
    site.drain()
    assert [(record.offset, record.value) for record in site.read(large)] == [(offset, value)]
    assert site.read(small) == []
    dead = site.read(site.config.dead_letter_topic(site.stream("json")))
    (letter,) = [record for record in dead if record.offset == offset]
    assert (letter.key, letter.value) == (b"k", None)
    reason = dict(letter.headers)["asc-error"] or b""
    assert reason.startswith(f"record for topic {small} takes 3000".encode())
    assert reason.endswith(b"over the limit of 100000")


def test_a_topic_that_takes_less_than_a_batch_gets_all_records(site: Site) -> None:
    tiny = site.topic("tiny")
    site.create_topic(tiny, message_bytes_max=2_000)
    site.register("tiny", "n = 434343", tiny)
    offsets = site.publish([json.dumps({"n": 434343, "s": "x" * 100}).encode() for _ in range(200)])
    site.drain()
    assert sorted(record.offset for record in site.read(tiny)) == sorted(offsets)
    assert site.client.delete("/v1/queries/tiny").status_code == 200
