"""Loads in parts: all of their lines or none, held within bounds, and each its caller's alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from broker.errors import BrokerError, NotThereError, TooLargeLoadError
from broker.http.part_loads import _OF_CALLER_MAX, _UNFINISHED_MAX, PartLoads

if TYPE_CHECKING:
    from conftest import Resting
    from fastapi.testclient import TestClient
    from httpx import Response


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_parts_come_in_any_order_and_are_put_together_by_number() -> None:
    loads = PartLoads(100)
    load_id = loads.begin("ops")
    loads.put(load_id, "ops", 2, b"c")
    with pytest.raises(NotThereError, match="part of a load 1: is missing"), loads.taken(load_id, "ops"):
        pass
    loads.put(load_id, "ops", 1, b"x\n")
    assert loads.put(load_id, "ops", 1, b"a\n\nb\n") == {"id": load_id, "parts": 2, "bytes": 6}
    with loads.taken(load_id, "ops") as content:
        assert content == b"a\n\nb\nc"
        with pytest.raises(NotThereError, match="begin it again"):
            loads.put(load_id, "ops", 3, b"d")
    with pytest.raises(NotThereError, match="begin it again"):
        loads.forget(load_id, "ops")


def test_a_load_is_its_caller_s_alone() -> None:
    loads = PartLoads(100)
    load_id = loads.begin("ops")
    for ask in (lambda: loads.put(load_id, "other", 1, b""), lambda: loads.forget(load_id, "other")):
        with pytest.raises(NotThereError, match="is not known"):
            ask()
    with pytest.raises(NotThereError), loads.taken(load_id, "other"):
        pass


def test_a_load_that_failed_is_over() -> None:
    loads = PartLoads(100)
    load_id = loads.begin("ops")
    loads.put(load_id, "ops", 1, b"a" * 100)
    with pytest.raises(ValueError, match="refused"), loads.taken(load_id, "ops"):
        raise ValueError("refused")
    loads.put(loads.begin("ops"), "ops", 1, b"a" * 100)


def test_bytes_and_number_are_bounded_and_an_idle_load_is_forgotten() -> None:
    clock = Clock()
    loads = PartLoads(10, idle_s=300, now_s=clock)
    first = loads.begin("ops")
    loads.put(first, "ops", 1, b"123456")
    loads.put(first, "ops", 1, b"12345678")
    second = loads.begin("other")
    with pytest.raises(TooLargeLoadError, match=r"parts of loads '11 bytes': are more than api.max_load_bytes"):
        loads.put(second, "other", 1, b"123")
    for _ in range(3):
        loads.begin("ops")
    with pytest.raises(BrokerError, match="loads 5: are unfinished"):
        loads.begin("ops")
    clock.now_s = 200
    loads.put(second, "other", 1, b"12")
    clock.now_s = 301
    # The first one is gone, and its bytes with it; the second one was touched.
    loads.put(second, "other", 2, b"12345678")
    with pytest.raises(NotThereError, match="nothing came to it for 300 s"):
        loads.put(first, "ops", 2, b"")


def test_as_many_loads_are_unfinished_as_the_limits_and_no_more() -> None:
    loads = PartLoads(10)
    for caller in range(_UNFINISHED_MAX // _OF_CALLER_MAX):
        for _ in range(_OF_CALLER_MAX):
            loads.begin(f"caller-{caller}")
        # Of one caller there are no more, though others have room at first.
        with pytest.raises(BrokerError, match="are unfinished"):
            loads.begin(f"caller-{caller}")
    with pytest.raises(BrokerError, match=f"loads {_UNFINISHED_MAX}: are unfinished"):
        loads.begin("another")


# -- over HTTP


def part(api: TestClient, load_id: str, number: int, *lines: object) -> Response:
    content = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    headers = {"content-type": "application/x-ndjson"}
    return api.put(f"/v1/loads/{load_id}/parts/{number}", content=content, headers=headers)


@pytest.mark.kafka
@pytest.mark.spark
def test_the_parts_of_a_load_are_all_or_none(api: TestClient, resting: Resting) -> None:
    def query(number: int, where: str = "n > 1") -> dict[str, str]:
        return {"id": f"parted-{number}", "where": where, "topic": "parted", "stream": resting.stream("json")}

    def started_load() -> str:
        answer = api.post("/v1/loads", json={})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    load_id = started_load()
    assert part(api, load_id, 1, query(1), query(2)).json()["parts"] == 1
    assert part(api, load_id, 10_001, query(3)).status_code == 400
    assert part(api, load_id, 2, query(3, "nn > 1")).status_code == 200
    refused = api.post(f"/v1/loads/{load_id}/commit", json={})
    assert refused.status_code == 400
    assert [(one["line"], one["id"]) for one in refused.json()["errors"]] == [(3, "parted-3")]
    assert api.get("/v1/queries/parted-1").status_code == 404
    assert api.post(f"/v1/loads/{load_id}/commit", json={}).status_code == 404
    load_id = started_load()
    part(api, load_id, 1, query(1), query(2))
    part(api, load_id, 2, query(3))
    made = api.post(f"/v1/loads/{load_id}/commit", json={})
    assert (made.status_code, made.json()["registered"]) == (200, 3), made.text
    load_id = started_load()
    part(api, load_id, 1, *({"remove": f"parted-{number}"} for number in (1, 2, 3)))
    tried = api.post(f"/v1/loads/{load_id}/commit", json={}, params={"dry_run": "true"})
    assert (tried.json()["removed"], api.get("/v1/queries/parted-1").status_code) == (3, 200)
    load_id = started_load()
    part(api, load_id, 1, *({"remove": f"parted-{number}"} for number in (1, 2, 3)))
    assert api.delete(f"/v1/loads/{load_id}").json()["parts"] == 1
    assert api.post(f"/v1/loads/{load_id}/commit", json={}).status_code == 404
    assert api.delete("/v1/queries/parted-1").status_code == 200
