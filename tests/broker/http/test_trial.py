"""What a predicate would have accepted: the same as it accepts, and nothing is registered."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from broker.access.scope import Scope
from broker.errors import ForbiddenError
from broker.http.trial import tried
from broker.stream import recent_records

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Resting, Site

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

WHERES = ["n > 5", "n % 3 = 1 AND s LIKE 'a%'", "1 / n > 0.2", "s IS NULL", "true", "n > 1 AND n < 1", "_offset < 4"]


def value(n: int) -> bytes:
    return json.dumps({"n": n, "s": None if n % 4 == 0 else "abc"[n % 3] + "ü"}).encode()


def test_what_would_have_been_accepted_is_what_is_accepted(site: Site) -> None:
    wanted = {}
    for number, where in enumerate(WHERES):
        wanted[where] = site.register(f"q{number}", where)["query"]["topic"]
    offsets = site.publish([value(n) for n in range(40)])
    site.publish([b"not a record"] * 2)
    site.drain()
    for where, topic in wanted.items():
        answer = site.client.post("/v1/test", json={"where": where, "stream": site.stream("json"), "show": 100})
        assert answer.status_code == 200, answer.text
        found = answer.json()
        accepted = [record.offset for record in site.read(topic)]
        assert (found["records"], found["dead_letters"], found["accepted"]) == (42, 2, len(accepted))
        assert [record["offset"] for record in found["shown"]] == sorted(accepted, reverse=True)[:100]
    assert json.loads(found["shown"][0]["value"])["n"] == 3
    few = site.client.post("/v1/test", json={"where": "n >= 0", "stream": site.stream("json"), "last": 12, "show": 2})
    assert (few.json()["accepted"], [each["offset"] for each in few.json()["shown"]]) == (10, offsets[:-3:-1])
    assert {query["id"] for query in site.client.get("/v1/queries").json()["queries"]} == {f"q{n}" for n in range(7)}


def test_no_more_bytes_are_read_than_the_limit(
    resting: Resting, send_to: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = resting.stream("json")
    stream = resting.streams()[name]
    value = b'{"n": 1}'
    for _ in range(2):
        send_to(resting.config.streams[name].topic, value)
    predicate = stream.analyser.normalise("n > 1")
    for size_bytes, records in ((2 * len(value), 2), (2 * len(value) - 1, 1)):
        monkeypatch.setattr(recent_records, "_BYTES_MAX", size_bytes)
        monkeypatch.setattr(stream.recent, "_held", None)
        assert stream.recent.accepted(predicate, 2, 0).records == records


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"where": "dely > 1"}, "unknown column 'dely'"),
        ({"where": "n > 1", "last": 0}, "last 0: use 1 to 100000"),
        ({"where": "n > 1", "last": 100_001}, "last 100001: use 1 to 100000"),
        ({"where": "n > 1", "show": 101}, "show 101: use 0 to 100"),
        ({"where": "n > 1", "last": "1"}, "last"),
    ],
)
def test_what_cannot_be_tested_is_one_line(site: Site, body: dict[str, Any], said: str) -> None:
    answer = site.client.post("/v1/test", json={"stream": site.stream("json"), **body})
    assert answer.status_code == 400
    assert said in answer.json()["error"]["message"]


def test_a_topic_without_records_accepts_none(resting: Resting) -> None:
    stream = resting.streams()[resting.stream("csv")]
    assert tried(resting.permitted, stream, "n > 1", 100, 5) == {
        "records": 0,
        "dead_letters": 0,
        "accepted": 0,
        "shown": [],
    }


def test_one_who_may_not_register_or_name_all_columns_is_shown_nothing(resting: Resting) -> None:
    stream = resting.streams()[resting.stream("json")]
    with pytest.raises(ForbiddenError, match="may only read"):
        tried(resting.within(Scope("r", read_only=True)), stream, "n > 1", 10, 0)
    some = resting.within(Scope("c", columns=frozenset({("n",)})))
    assert tried(some, stream, "n > 1", 10, 0)["accepted"] == 0
    with pytest.raises(ForbiddenError, match="columns that token 'c' may not name: use show 0"):
        tried(some, stream, "n > 1", 10, 1)
    with pytest.raises(ForbiddenError):
        tried(some, stream, "s = 'x'", 10, 0)
