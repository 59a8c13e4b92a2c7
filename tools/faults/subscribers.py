"""Simulated users who constantly register, replace and remove queries, and record the answers."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from tools.faults.delivery_ledger import Life

_PAUSE_S = 0.15
_AGAIN_S = 0.5
_ASK_S = 120.0
"""The timeout of a request in seconds. It is longer than any fault, because a request that was given up must not be
applied after a later one.
"""
_IDS = 40
_BULK = 30

_Body = dict[str, str]


def predicate(random_: random.Random) -> str:
    """Return a random predicate that has the same meaning in Spark and DuckDB over the feed's records. The predicates
    are of every kind, and include NULL and a division by zero.
    """
    a, b = random_.randrange(2, 12), random_.randrange(-4, 4)
    return random_.choice(
        [
            f"n % {a} = {a // 2}",
            f"g = {a % 10} AND n % 5 < 3",
            f"g IN ({a % 10}, {b + 4}) AND d > {b}.5",
            f"s LIKE 'a%' AND g <> {a % 10}",
            f"d > {b} OR s IS NULL",
            f"upper(s) = 'ABC' AND g < {a}",
            f"n / (g - {a % 10}) > {a * 10}",
            f"NOT (d BETWEEN {b} AND {b + 2}) AND g >= {a % 10}",
            f"s IN ('Äpfel', 'zoë') AND n % 3 = {a % 3}",
        ]
    )


class Subscribers:
    """Client that registers, replaces and removes queries in a separate thread, one request at a time, from
    :meth:`start` to :meth:`close`.

    A request without an answer is repeated until it is answered. The broker may have applied it at any attempt. So the
    boundary between the old life and the new one *may* be anywhere between the last answered offsets and those of the
    final answer. ``lives``: all lives, ended or not. ``failures``: the answers that differ from the required ones.
    """

    def __init__(self, client: httpx.Client, topics: Sequence[str], *, stream: str, seed: int) -> None:
        self._client = client
        self._topics = topics
        self._stream = stream
        self._random = random.Random(seed)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._change, name="subscribers", daemon=True)
        self._floor: dict[int, int] = {}
        self._standing: dict[str, Life] = {}
        self.lives: list[Life] = []
        self.failures: list[str] = []
        self.changes = 0
        self.sent_again = 0

    def start(self) -> None:
        """Start changing queries."""
        self._thread.start()

    def close(self) -> None:
        """Stop changing queries, after the present request is answered."""
        self._over.set()
        self._thread.join()

    def put(self, query_id: str, where: str, topic: str) -> None:
        """Register or replace one query. Return after the daemon has confirmed the change."""
        body = {"where": where, "topic": topic, "stream": self._stream}
        answer, certain = self._asked("PUT", f"/v1/queries/{query_id}", json=body)
        self._began({query_id: body}, _offsets(answer["effective_offsets"]), certain)

    def check_standing(self) -> None:
        """Compare the stream's queries that the API lists with the confirmed queries, and record each difference as a
        failure. Queries with operators are excluded.
        """
        listed, cursor = {}, None
        while True:
            params = {
                "stream": self._stream,
                "operator": "route",
                "limit": 500,
                **({"cursor": cursor} if cursor else {}),
            }
            page, _ = self._asked("GET", "/v1/queries", params={**params, **({"cursor": cursor} if cursor else {})})
            listed.update({query["id"]: (query["where"], query["topic"]) for query in page["queries"]})
            cursor = page["cursor"]
            if cursor is None:
                break
        known = {query_id: (life.where, life.topic) for query_id, life in self._standing.items()}
        for query_id in known.keys() | listed.keys():
            if known.get(query_id) != listed.get(query_id):
                self.failures.append(
                    f"query {query_id}: {known.get(query_id)} confirmed, {listed.get(query_id)} listed"
                )

    def _change(self) -> None:
        while not self._over.wait(_PAUSE_S):
            try:
                self._change_once()
            except Exception as error:
                self.failures.append(f"{type(error).__name__}: {error}")
                return

    def _change_once(self) -> None:
        chance = self._random.random()
        query_id = f"q{self._random.randrange(_IDS)}"
        if chance < 0.08:
            self._put_many()
        elif chance < 0.35 and query_id in self._standing:
            self._remove(query_id)
        else:
            self.put(query_id, predicate(self._random), self._random.choice(self._topics))
        self.changes += 1

    def _put_many(self) -> None:
        """Register or replace many queries in one step, either all or none."""
        first = self._random.randrange(_IDS)
        bodies = {
            f"bulk-{number % _IDS}": {
                "where": predicate(self._random),
                "topic": self._random.choice(self._topics),
                "stream": self._stream,
            }
            for number in range(first, first + _BULK)
        }
        lines = "\n".join(json.dumps({"id": query_id, **body}) for query_id, body in bodies.items())
        headers = {"content-type": "application/x-ndjson"}
        answer, certain = self._asked("POST", "/v1/queries", content=lines.encode(), headers=headers)
        found = answer["effective_offsets"].get(self._stream)
        if answer["errors"]:
            self.failures.append(f"bulk load: {answer['errors'][:1]}")
        if found is not None:
            self._began(bodies, _offsets(found), certain)

    def _remove(self, query_id: str) -> None:
        answer, certain = self._asked("DELETE", f"/v1/queries/{query_id}", allowed=404)
        if "effective_offsets" in answer:
            self._ended(query_id, _offsets(answer["effective_offsets"]), certain)
            return
        if certain:
            self.failures.append(f"query {query_id} was confirmed and is unknown")
        # An earlier attempt, which got no answer, removed the query. So the query ends at the latest at the effective
        # offsets of the probe, a query that is registered now.
        probe = f"probe-{query_id}"
        body = {"where": "n < 0", "topic": self._topics[0], "stream": self._stream}
        put, _ = self._asked("PUT", f"/v1/queries/{probe}", json=body)
        self._ended(query_id, _offsets(put["effective_offsets"]), certain=False)
        self._began({probe: body}, _offsets(put["effective_offsets"]), certain=False)

    def _asked(self, method: str, path: str, *, allowed: int = 200, **request: Any) -> tuple[dict[str, Any], bool]:
        """Send a request, and repeat it until the API answers. Return the answer as JSON, and True if the first attempt
        was answered, because the offsets of the change are then certain.
        """
        certain = True
        while True:
            try:
                answer = self._client.request(method, path, timeout=_ASK_S, **request)
            except httpx.TransportError:
                pass
            else:
                if answer.is_success or answer.status_code == allowed:
                    found: dict[str, Any] = answer.json()
                    return found, certain
                if answer.status_code < 500:
                    raise RuntimeError(f"{method} {path} was answered with {answer.status_code}: {answer.text[:300]}")
            # A refusal by a daemon that is not ready does not make the result certain either, because an earlier
            # attempt may have been applied.
            certain = False
            self.sent_again += 1
            self._over.wait(_AGAIN_S)

    def _began(self, bodies: Mapping[str, _Body], offsets: dict[int, int], certain: bool) -> None:
        may = offsets if certain else dict(self._floor)
        for query_id, body in bodies.items():
            if query_id in self._standing:
                self._end(query_id, offsets, certain)
            life = Life(query_id, body["where"], body["topic"], must_from=offsets, may_from=may)
            self._standing[query_id] = life
            self.lives.append(life)
        self._raise_floor(offsets)

    def _ended(self, query_id: str, offsets: dict[int, int], certain: bool) -> None:
        self._end(query_id, offsets, certain)
        del self._standing[query_id]
        self._raise_floor(offsets)

    def _end(self, query_id: str, offsets: dict[int, int], certain: bool) -> None:
        life = self._standing[query_id]
        life.may_until = offsets
        life.must_until = offsets if certain else dict(self._floor)

    def _raise_floor(self, offsets: Mapping[int, int]) -> None:
        # Effective offsets never decrease, so each later change takes effect at this offset or after it.
        for partition, offset in offsets.items():
            self._floor[partition] = max(offset, self._floor.get(partition, 0))


def _offsets(answered: Mapping[str, int]) -> dict[int, int]:
    return {int(partition): offset for partition, offset in answered.items()}
