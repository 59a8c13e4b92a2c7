"""Generated messages of a feed: messages of a stream's job, messages of an earlier version, and invalid messages."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from asc.operators.feed import QuerySettings
from asc.schema import Schema
from broker.formats.record_attributes import attributes_of
from broker.operators.kinds import feed_kinds
from broker.operators.schema_analyser import SchemaAnalyser

_WORDS = ("", "a", "s", "t", "ts", "n1", "s/1", "near", "events", "enter", "pair", "\0", "\ud800", "Ø", "x" * 2_000)
_NUMBERS = (0, -1, 1, 2, 0.5, 1e308, -1e308, 90, 181, 10**6, 10**15, 2**31, 2**63, -(2**63), 10**400, float("nan"))
_SECOND_US = 1_000_000
_BASE_US = 1_700_000_000 * _SECOND_US
_SECONDS = 1_200
_DEEP = (100, 2_000, 100_000)
_FACTORS = (0, 0.02, 0.1, 0.5, 2, 10)
_AIRCRAFT_DDL = "icao24 STRING, ts TIMESTAMP, longitude DOUBLE, latitude DOUBLE, altitude DOUBLE"
"""The columns that the examples of the kinds read."""

_WHERE = "altitude > 3000"


def messages_of(rng: random.Random, op: str, count: int) -> list[bytes]:
    """Return ``count`` messages for a kind of operator, in the order of a partition. The first message contains
    settings.
    """
    first = [json.dumps(_settings(rng, op)).encode()]
    return first + [_message(rng, op, _SECONDS * place // count) for place in range(1, count)]


def _message(rng: random.Random, op: str, second: int) -> bytes:
    """Return a random message. ``second``: the newest event time that the message may contain, in seconds after a fixed
    start.
    """
    kind = rng.random()
    if kind < 0.03:
        return rng.randbytes(rng.choice((0, 1, 20)))
    if kind < 0.06:
        return rng.choice((b"[", b'{"op":', b'{"t":{"x":')) * rng.choice(_DEEP)
    plain = _plain(rng, op, second)
    if kind < 0.4:
        for _ in range(rng.randint(1, 3)):
            plain = _changed(rng, plain)
    text = json.dumps(plain, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")
    if kind > 0.95:
        place = rng.randrange(len(text) + 1)
        text = text[:place] + rng.choice((b"", b"\xff", b"\0", b'"', b"}")) + text[place + rng.randint(0, 3) :]
    return text


def _plain(rng: random.Random, op: str, second: int) -> Any:
    kind = rng.random()
    if kind < 0.1:
        return _settings(rng, op)
    if kind < 0.2:
        return {"v": 2, "time": {rng.choice(("ts", "ts", "ts", "n1", "tt")): _time_us(rng, second)}}
    if kind < 0.3:
        return _of_form_1(rng, second)
    position = [round(rng.uniform(-0.02, 0.02), 4), round(rng.uniform(-0.02, 0.02), 4)]
    return {
        **{"v": 2, "op": op, "t": rng.choice(("t", "t", "t", "u")), "k": rng.choice("abc"), "e": _time_us(rng, second)},
        **{"x": position, "p": 0, "o": rng.randrange(1_000), "s": rng.sample(("s", "r", "s/1"), rng.randint(0, 3))},
        **({"c": '{"n": 1}'} if rng.random() < 0.2 else {}),
        **({"f": True} if rng.random() < 0.05 else {}),
    }


def _settings(rng: random.Random, op: str) -> dict[str, Any]:
    queries = [_query(rng, op, name) for name in rng.sample(("over", "slow", "close"), rng.randint(1, 3))]
    settings = {
        "source": "flights",
        "planar": rng.random() < 0.2,
        "limit": rng.choice((0, 3, 1_000, 1_000, 1_000)),
        "queries": queries,
    }
    return {"v": 2, "op": op, "settings": settings}


def _query(rng: random.Random, op: str, name: str) -> dict[str, Any]:
    names = {"id": name, "topic": f"{name}s", "track": rng.choice("ttu"), "time": "ts"}
    definition = rng.choice(_definitions(op))
    if rng.random() < 0.5:
        definition = _scaled(rng, definition)
    return {**names, "selections": rng.sample(("s", "r"), rng.randint(1, 2)), "definition": definition}


@cache
def _definitions(op: str) -> Sequence[Mapping[str, Any]]:
    """Return the definitions of a kind's examples, as the settings of a feed have them."""
    kind, analyser = feed_kinds()[op], SchemaAnalyser(attributes_of(Schema.from_ddl(_AIRCRAFT_DDL)))
    where, query = analyser.normalise(_WHERE), QuerySettings("", "", "", "", ("",), {})
    parsed = [kind.definition.parse(example) for example in kind.body.examples]
    return [kind.destination(own, query, where, kind.read(own, analyser)).query.definition for own in parsed]


def _scaled(rng: random.Random, definition: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of an operator's definition in which one number is replaced by zero, a smaller or a larger
    number.
    """
    name = rng.choice([name for name, own in definition.items() if type(own) in (int, float)])
    own = definition[name]
    return {**definition, name: type(own)(own * rng.choice(_FACTORS))}


def _of_form_1(rng: random.Random, second: int) -> Any:
    track = rng.choice(("n1", "ab"))
    kind = rng.randrange(3)
    if kind == 0:
        return {"watermarks": {track: _time_us(rng, second)}}
    if kind == 1:
        events = ["over", "overs", "ab", ["enter", "exit"], 0, 300 * _SECOND_US]
        near = ["close", "closes", "n1", ["near"], 500.0, 30 * _SECOND_US, 10 * _SECOND_US, None]
        own = {"source": "flights", "planar": False, "objects_max": 3, "near_objects_max": 3}
        return {"settings": {**own, "queries": [events], "near": [near]}}
    return {"t": track, "k": "a", "e": _time_us(rng, second), "x": [0, 0], "p": 0, "o": 1, "q": "over\x1fclose"}


def _time_us(rng: random.Random, second: int) -> int:
    return _BASE_US + (second - rng.choice((0, 1, 5, 60))) * _SECOND_US


def _changed(rng: random.Random, plain: Any) -> Any:
    """Return a copy of a message in which one value, at a random position, is replaced or removed."""
    if isinstance(plain, Mapping) and plain and rng.random() < 0.8:
        name = rng.choice(sorted(plain))
        if rng.random() < 0.1:
            return {key: value for key, value in plain.items() if key != name}
        return {**plain, name: _changed(rng, plain[name])}
    if isinstance(plain, list) and plain and rng.random() < 0.8:
        place = rng.randrange(len(plain))
        return [*plain[:place], _changed(rng, plain[place]), *plain[place + 1 :]]
    return _value(rng)


def _value(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.randrange(6)
    if kind == 0:
        return rng.choice(_WORDS)
    if kind < 3:
        return rng.choice(_NUMBERS)
    if kind == 3 or depth > 2:
        return rng.choice((None, True, False))
    if kind == 4:
        return [_value(rng, depth + 1) for _ in range(rng.randint(0, 2))]
    return {rng.choice(_WORDS): _value(rng, depth + 1) for _ in range(rng.randint(0, 2))}
