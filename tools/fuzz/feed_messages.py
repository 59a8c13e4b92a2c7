"""Generated messages of a feed: messages of a stream's job, messages of an earlier version, and invalid messages."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any

_WORDS = ("", "a", "s", "t", "ts", "n1", "s/1", "near", "events", "enter", "pair", "\0", "\ud800", "Ø", "x" * 2_000)
_NUMBERS = (0, -1, 1, 2, 0.5, 1e308, -1e308, 90, 181, 10**6, 10**15, 2**31, 2**63, -(2**63), 10**400, float("nan"))
_SECOND_US = 1_000_000
_BASE_US = 1_700_000_000 * _SECOND_US
_DEEP = (100, 2_000, 100_000)


def messages_of(rng: random.Random, op: str, count: int) -> list[bytes]:
    """Return ``count`` messages for a kind of operator, in the order of a partition. The first message contains
    settings.
    """
    begun = [json.dumps(_settings(rng, op)).encode()]
    return begun + [_message(rng, op) for _ in range(count - 1)]


def _message(rng: random.Random, op: str) -> bytes:
    kind = rng.random()
    if kind < 0.03:
        return rng.randbytes(rng.choice((0, 1, 20)))
    if kind < 0.06:
        return rng.choice((b"[", b'{"op":', b'{"t":{"x":')) * rng.choice(_DEEP)
    plain = _plain(rng, op)
    if kind < 0.4:
        for _ in range(rng.randint(1, 3)):
            plain = _changed(rng, plain)
    text = json.dumps(plain, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")
    if kind > 0.95:
        place = rng.randrange(len(text) + 1)
        text = text[:place] + rng.choice((b"", b"\xff", b"\0", b'"', b"}")) + text[place + rng.randint(0, 3) :]
    return text


def _plain(rng: random.Random, op: str) -> Any:
    kind = rng.random()
    if kind < 0.1:
        return _settings(rng, op)
    if kind < 0.2:
        return {"v": 2, "time": {rng.choice(("ts", "n1", "tt")): _time_us(rng)}}
    if kind < 0.3:
        return _of_form_1(rng, op)
    position = [round(rng.uniform(-0.02, 0.02), 4), round(rng.uniform(-0.02, 0.02), 4)]
    return {
        **{"v": 2, "op": op, "t": rng.choice(("t", "t", "t", "u")), "k": rng.choice("abc"), "e": _time_us(rng)},
        **{"x": position, "p": 0, "o": rng.randrange(1_000), "s": rng.sample(("s", "r", "s/1"), rng.randint(0, 3))},
        **({"c": '{"n": 1}'} if rng.random() < 0.2 else {}),
        **({"f": True} if rng.random() < 0.05 else {}),
    }


def _settings(rng: random.Random, op: str) -> dict[str, Any]:
    queries = [_query(rng, op, name) for name in rng.sample(("over", "slow", "close"), rng.randint(1, 3))]
    own = {"source": "flights", "planar": rng.random() < 0.2, "limit": rng.choice((0, 3, 1_000)), "queries": queries}
    return {"v": 2, "op": op, "settings": own}


def _query(rng: random.Random, op: str, name: str) -> dict[str, Any]:
    names = {"id": name, "topic": f"{name}s", "track": rng.choice("ttu"), "time": "ts"}
    return {**names, "selections": rng.sample(("s", "r"), rng.randint(1, 2)), "definition": _definition(rng, op)}


def _definition(rng: random.Random, op: str) -> dict[str, Any]:
    if op == "events":
        dwell_us, lost_us = (rng.choice((0, 1, 30, 300)) * _SECOND_US for _ in range(2))
        return {"events": ["enter", "exit", "lost"], "dwell_us": dwell_us, "lost_after_us": lost_us}
    every_us, window_us = (rng.choice((1, 10, 60)) * _SECOND_US for _ in range(2))
    kinds = rng.choice((["pair"], ["near", "apart"], ["pair", "near"]))
    times = {"window_us": window_us, "every_us": every_us}
    return {"distance_m": rng.choice((0, 500.0, 1e7)), **times, "on": rng.choice((None, "a.n < b.n")), "events": kinds}


def _of_form_1(rng: random.Random, op: str) -> Any:
    track = "n1" if op == "near" else "ab"
    kind = rng.randrange(3)
    if kind == 0:
        return {"watermarks": {track: _time_us(rng)}}
    if kind == 1:
        events = ["over", "overs", "ab", ["enter", "exit"], 0, 300 * _SECOND_US]
        near = ["close", "closes", "n1", ["near"], 500.0, 30 * _SECOND_US, 10 * _SECOND_US, None]
        own = {"source": "flights", "planar": False, "objects_max": 3, "near_objects_max": 3}
        return {"settings": {**own, "queries": [events], "near": [near]}}
    return {"t": track, "k": "a", "e": _time_us(rng), "x": [0, 0], "p": 0, "o": 1, "q": "over\x1fclose"}


def _time_us(rng: random.Random) -> int:
    return _BASE_US + rng.randrange(600) * _SECOND_US


def _changed(rng: random.Random, plain: Any) -> Any:
    """Return a message in which one value, somewhere, is replaced or removed."""
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
