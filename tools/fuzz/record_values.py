"""Generated values of Kafka records: valid values, values with the mistakes of faulty producers, and values that need
much memory or time.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence

_WORDS = """
a Oslo Ærø 😀 " ' \\ , | ; 2024-02-29 2024-02-30 2024-02-29T12:00:00.123456789Z +294247-01-10T04:00:54.775807Z
-290308-12-21 0000-00-00 24:00:00 9999999999999 today NaN Infinity -Inf true null AAAA =A= {} [] 0x10 1_000 1,000
١٢ -- # 1e9,999,999,9
"""
_TEXTS = ("", " ", "x" * 300, "\0", "\ufeff", "\u2028", "\r\n", *_WORDS.split())
_NUMBER_LIST = """
0 -0 1 -1 127 128 2147483648 9223372036854775808 1.5 1e3 1E400 -1e-400 1e308 1e999 1e1000 1e2147483648 01 +1 1. .1
1e99999999999999999999 0x1F NaN Infinity -Infinity 1e --1 1-
"""
_LONG_NUMBERS = ("9" * 40, "9" * 1_000, "9" * 9_999, "9" * 10_001, "0." + "0" * 400 + "1", "1" + "0" * 400)
_NUMBERS = (*_NUMBER_LIST.split(), *_LONG_NUMBERS)
_OTHER_LIST = """
null true false {} [] [null] [[]] {"x":1} {"x":{"x":{}}} nul True undefined /**/1
"""
_OTHERS = tuple(_OTHER_LIST.split())
_BAD_UTF8 = (
    b"\xff",
    b"\xfe\xff",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"\xc0\x80",
    b"\xf4\x90\x80\x80",
    b"\x80",
)
_BYTES = (
    *_BAD_UTF8,
    b"\0",
    b"\x1a",
    b"\n",
    b"\r",
    b"\t",
    *rb""" " ' \ { } [ ] : , \u0000 \ud800 \x // /* # """.split(),
)
_DEPTHS = (10, 100, 1_000, 1_001, 20_000)
_RUNS = (1_000, 21_000, 100_000)


def batch_of(rng: random.Random, kind: str, columns: Sequence[str], separator: str, count: int) -> list[bytes | None]:
    """Return ``count`` values for a stream with a format and these columns; None is a tombstone."""
    whole = _WHOLE[kind]
    return [_value(rng, lambda: whole(rng, columns, separator)) for _ in range(count)]


def _value(rng: random.Random, whole: Callable[[], bytes]) -> bytes | None:
    kind = rng.random()
    if kind < 0.02:
        return None
    if kind < 0.12:
        return rng.randbytes(rng.choice((0, 1, 3, 20, 400)))
    if kind < 0.17:
        return _extreme(rng)
    value = whole()
    if kind < 0.45:
        return value
    for _ in range(rng.randint(1, 3)):
        value = mutated(rng, value)
    return value


def _extreme(rng: random.Random) -> bytes:
    """Return a value that repeats one element many times."""
    depth, run = rng.choice(_DEPTHS), rng.choice(_RUNS)
    chosen = rng.randrange(7)
    if chosen == 0:
        return b'{"nested":' * depth + b"1" + b"}" * depth
    if chosen == 1:
        return b'{"tags":' + b"[" * depth + b"]" * rng.choice((0, depth)) + b"}"
    if chosen == 2:
        return b'{"d":' + b"9" * run + b"}"
    if chosen == 3:
        return b'{"s":"' + rng.choice((b"a", b"\\n", "\u00c6".encode(), b"\\ud83d\\ude00")) * run + b'"}'
    if chosen == 4:
        return rng.choice(_BYTES) * run
    if chosen == 5:
        return b"{" + b",".join(b'"k%d":%d' % (number, number) for number in range(min(run, 20_000))) + b"}"
    return b"1" + rng.choice((b",", b"|", b'"",', b'"')) * run


def _json(rng: random.Random, columns: Sequence[str], separator: str) -> bytes:
    """Return a JSON object. ``separator`` is not used."""
    names = [rng.choice(columns) if rng.random() < 0.9 else rng.choice(_TEXTS) for _ in range(rng.randint(0, 8))]
    members = [f"{json.dumps(name)}{rng.choice((':', ': '))}{_literal(rng)}" for name in names]
    text = "{" + ",".join(members) + "}"
    return text.encode(rng.choice(("utf-8",) * 30 + ("utf-8-sig", "utf-16", "latin-1", "utf-32")), "replace")


def _literal(rng: random.Random, depth: int = 0) -> str:
    kind = rng.random()
    if kind < 0.35:
        return rng.choice(_NUMBERS)
    if kind < 0.7:
        return json.dumps(rng.choice((*_TEXTS, *_NUMBERS)), ensure_ascii=rng.random() < 0.5)
    if kind < 0.85 or depth > 2:
        return rng.choice(_OTHERS)
    if kind < 0.93:
        return "[" + ",".join(_literal(rng, depth + 1) for _ in range(rng.randint(0, 3))) + "]"
    return "{" + ",".join(f'"{name}":{_literal(rng, depth + 1)}' for name in rng.choices("abxz", k=2)) + "}"


def _csv(rng: random.Random, columns: Sequence[str], separator: str) -> bytes:
    count = len(columns) + rng.choice((0,) * 8 + (-1, 1))
    fields = [rng.choice((*_TEXTS, *_NUMBERS, *("1", "2", "true"))) for _ in range(max(1, count))]
    quoted = ['"' + field.replace('"', '""') + '"' if rng.random() < 0.4 else field for field in fields]
    return separator.join(quoted).encode(rng.choice(("utf-8",) * 30 + ("utf-8-sig", "utf-16")), "replace")


def mutated(rng: random.Random, value: bytes) -> bytes:
    """Return a value with one part cut off, removed, inserted or changed."""
    place = rng.randrange(len(value) + 1)
    kind = rng.randrange(5)
    if kind == 0:
        return value[:place]
    if kind == 1:
        return value[:place] + value[place + rng.randint(1, 5) :]
    if kind == 2:
        return value[:place] + rng.choice(_BYTES) + value[place:]
    if kind == 3:
        return value[:place] + bytes([rng.randrange(256)]) + value[place + 1 :]
    return value[:place] + rng.choice((*_NUMBERS, *_OTHERS)).encode() + value[place:]


_WHOLE: Mapping[str, Callable[[random.Random, Sequence[str], str], bytes]] = {"json": _json, "csv": _csv}
