"""Generated schemas with records: regular schemas of a registry, faulty schemas, and hostile schemas."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tools.fuzz.record_values import mutated

DDL = (
    "a INT, s STRING, d DOUBLE, flag BOOLEAN, b BINARY, l ARRAY<STRUCT<a: INT, s: STRING>>, m MAP<STRING, BIGINT>, "
    "r STRUCT<a: INT, s: STRING>, at TIMESTAMP, n DECIMAL(10,2)"
)
"""The columns of the stream; some of their names and types occur in the generated schemas."""

_NAMES = ("a", "s", "d", "flag", "b", "l", "m", "r", "at", "n", "other", "k")
_PLAIN = ("null", "boolean", "int", "long", "float", "double", "string", "bytes")
_LOGICAL = (("int", "date"), ("long", "timestamp-millis"), ("long", "timestamp-micros"), ("int", "time-millis"))
_DEEP = (20, 99, 300, 3_000)


@dataclass(frozen=True, slots=True)
class Written:
    """A schema in a registry's form, with records that may or may not match it."""

    text: str
    kind: str
    references: tuple[tuple[str, str], ...]
    records: tuple[bytes, ...]


def written_of(rng: random.Random, kind: str, count: int) -> Written:
    """Return a schema of a kind with ``count`` records."""
    made = {"AVRO": _avro, "PROTOBUF": _protobuf}.get(kind, _json)
    return made(rng, count)


def _avro(rng: random.Random, count: int) -> Written:
    if rng.random() < 0.2:
        text = rng.choice(_HOSTILE)(rng)
        return Written(text, "AVRO", (), tuple(rng.randbytes(rng.choice((0, 9, 900))) for _ in range(count)))
    schema = _record(rng, "R", ["R"], 0)
    text = json.dumps(schema)
    records = [_datum(rng, schema) for _ in range(count)]
    if rng.random() < 0.2:
        text = mutated(rng, text.encode()).decode("utf-8", "replace")
    return Written(text, "AVRO", (), tuple(mutated(rng, each) if rng.random() < 0.4 else each for each in records))


def _datum(rng: random.Random, schema: Any) -> bytes:
    """Return a record of a schema, encoded by fastavro. If fastavro cannot encode one, return arbitrary bytes."""
    import fastavro
    from fastavro import utils

    random.seed(rng.random())
    try:
        parsed = fastavro.parse_schema(schema)
        (value,) = utils.generate_many(parsed, 1)
        out = io.BytesIO()
        fastavro.schemaless_writer(out, parsed, value)
    except Exception:
        return rng.randbytes(20)
    return out.getvalue()


def _record(rng: random.Random, name: str, above: list[str], depth: int) -> Any:
    names = rng.sample(_NAMES, rng.randint(0 if depth else 1, 6))
    fields = [{"name": each, "type": _type(rng, [*above, name], depth + 1)} for each in names]
    return {"type": "record", "name": name, "fields": fields}


def _type(rng: random.Random, above: list[str], depth: int) -> Any:
    kind = rng.random()
    if kind < 0.5 or depth > 4:
        return rng.choice(_PLAIN)
    if kind < 0.58:
        base, logical = rng.choice(_LOGICAL)
        return {"type": base, "logicalType": logical}
    if kind < 0.62:
        digits = {"precision": rng.choice((1, 9, 38)), "scale": rng.choice((0, 2))}
        return {"type": "bytes", "logicalType": "decimal", **digits}
    if kind < 0.66:
        return {"type": "fixed", "name": f"F{rng.randrange(10**6)}", "size": rng.choice((0, 1, 16, 1 << 31))}
    if kind < 0.75:
        return {"type": "array", "items": _type(rng, above, depth + 1)}
    if kind < 0.8:
        return {"type": "map", "values": _type(rng, above, depth + 1)}
    if kind < 0.9:
        return ["null", rng.choice((_PLAIN[2], _PLAIN[6], rng.choice(above), _type(rng, above, depth + 1)))]
    return _record(rng, f"R{rng.randrange(10**6)}", above, depth)


def _deep_types(rng: random.Random) -> str:
    part, depth = rng.choice(('{"type":"array","items":', '{"type":"map","values":', '["null",')), rng.choice(_DEEP)
    close = "]" if part[0] == "[" else "}"
    return '{"type":"record","name":"R","fields":[{"name":"a","type":' + part * depth + '"int"' + close * depth + "}]}"


def _doubling(rng: random.Random) -> str:
    leaf, levels = rng.choice(("null", "int")), rng.choice((5, 30, 300))
    inner: Any = {"type": "record", "name": "D0", "fields": [{"name": "a", "type": leaf}]}
    fields = [{"name": "x0", "type": ["null", inner]}]
    for number in range(1, levels):
        both = [{"name": each, "type": f"D{number - 1}"} for each in "ab"]
        doubled = {"type": "record", "name": f"D{number}", "fields": both}
        fields.append({"name": f"x{number}", "type": ["null", doubled]})
    return json.dumps({"type": "record", "name": "R", "fields": fields})


def _endless(rng: random.Random) -> str:
    own = rng.choice(("R", ["R"], {"type": "array", "items": "R"}, {"type": "map", "values": ["null", "R"]}))
    fields = [{"name": "a", "type": "int"}, {"name": "k", "type": own}]
    return json.dumps({"type": "record", "name": "R", "fields": fields})


def _chained(rng: random.Random) -> str:
    """Return a schema with chains of record types, each of which contains the next. A reader that visits each type only
    once meets little depth.
    """
    chains, length = rng.choice((2, 10, 31)), rng.choice((5, 60, 95))
    last = rng.choice(("int", ["null", "R"], {"type": "array", "items": "R"}))
    fields = []
    for chain in reversed(range(chains)):
        inner: Any = f"C{chain + 1}_0" if chain + 1 < chains else last
        if rng.random() < 0.2:
            inner = ["null", inner] if not isinstance(inner, list) else inner
        for place in reversed(range(length)):
            inner = {"type": "record", "name": f"C{chain}_{place}", "fields": [{"name": "x", "type": inner}]}
        fields.append({"name": f"f{chain}", "type": inner})
    return json.dumps({"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}, *fields]})


_HOSTILE: tuple[Callable[[random.Random], str], ...] = (_deep_types, _doubling, _endless, _chained)

_PROTO_SCALARS = ("int32", "int64", "uint64", "sint32", "fixed32", "bool", "string", "bytes", "float", "double")
_PROTO_TYPES = (*_PROTO_SCALARS, "Inner", "R")
_IMPORTED = ("part.proto", "a/b.proto", "x" * 300, ".", "../up.proto", "schema_of_records.proto")


def _protobuf(rng: random.Random, count: int) -> Written:
    def message(name: str) -> str:
        fields = []
        for number, field in enumerate(rng.sample(_NAMES, rng.randint(1, 6)), 1):
            kind = rng.choice(_PROTO_TYPES)
            label = rng.choice(("", "", "repeated ", "optional "))
            fields.append(f"{label}{kind} {field} = {number};")
        return f"message {name} {{ {' '.join(fields)} map<string, int64> m2 = 30; }}"

    text = f'syntax = "proto3"; {message("R")} {message("Inner")}'
    references: tuple[tuple[str, str], ...] = ()
    if rng.random() < 0.3:
        name = rng.choice(_IMPORTED)
        references = ((name, 'syntax = "proto3"; message Part { int32 a = 1; }'),)
    if rng.random() < 0.3:
        text = mutated(rng, text.encode()).decode("utf-8", "replace")
    return Written(text, "PROTOBUF", references, tuple(_message(rng) for _ in range(count)))


def _message(rng: random.Random, depth: int = 0) -> bytes:
    """Return bytes in Protobuf's wire format, with arbitrary field numbers."""
    if rng.random() < 0.05 and not depth:
        return rng.choice((b"\x0b" * 5_000, b"\x12\x80\x80\x80\x80\x0f", b"\x22\x02\x0a\x00" * 50_000))
    message = b""
    for _ in range(rng.randint(0, 4)):
        wire, number = rng.choice((0, 1, 2, 2, 5)), rng.randint(1, 7)
        message += bytes([number << 3 | wire])
        if wire == 0:
            message += rng.choice((b"\0", b"\x01", b"\xff\xff\xff\xff\x0f", b"\xff" * 9 + b"\x01"))
        elif wire == 2:
            body = _message(rng, depth + 1) if depth < 3 and rng.random() < 0.5 else rng.choice((b"", b"text", b"\xff"))
            message += bytes([len(body) & 127]) + body[:127]
        else:
            message += rng.randbytes(8 if wire == 1 else 4)
    return mutated(rng, message) if rng.random() < 0.2 else message


def _json(rng: random.Random, count: int) -> Written:
    """Return a schema of the type JSON Schema. No reader reads its records, whatever the schema contains."""
    deep = '{"items":' * 900 + "}" * 900
    text = rng.choice(('{"$ref":"#"}', '{"allOf":[{"$ref":"#"}]}', '{"type":"object"}', deep, ""))
    return Written(text, "JSON", (), tuple(b'{"a": 1}' for _ in range(count)))
