"""A plan as bytes: a short header and the flat arrays, which are read where they lie.

    magic (8 bytes), CRC-32 of all that follows it (4 bytes, little-endian), length of the header (4 bytes), header
    (JSON), then each array on a multiple of 64 bytes

The header names version, options and, for every array, its type, shape and place. The sum finds damage, not malice.
P-attributes, ids and topic names are Arrow IPC messages among the arrays. Nothing is pickled, so reading bytes from
elsewhere runs no code.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.errors import PlanError
from asc.keys.attribute import PAttribute
from asc.keys.dictionary import Dictionary
from asc.keys.grid import Grid
from asc.plan.block import Block
from asc.plan.conjuncts import ConjunctTable
from asc.plan.order import Order
from asc.plan.plan import CompileOptions, Plan

_MAGIC = b"ASCPLAN4"
_ALIGNMENT = 64
_DTYPES = frozenset(("|u1", "<u2", "<i4", "<i8", "<u8"))

_DAMAGE = (LookupError, ValueError, TypeError, AttributeError, StopIteration, OSError, MemoryError, pa.ArrowException)
"""What reading bytes may come upon that fit their sum and are no plan."""

Arrays = dict[str, npt.NDArray[Any]]


def to_bytes(plan: Plan) -> bytes:
    """The plan as bytes."""
    arrays = dict(_arrays(plan))
    places, offset = {}, 0
    for name, array in arrays.items():
        places[name] = [array.dtype.str, list(array.shape), offset]
        offset += array.nbytes + -array.nbytes % _ALIGNMENT
    header = {
        "version": plan.version,
        "options": asdict(plan.options),
        "changes": plan.changes,
        "blocks": len(plan.blocks),
        "grids": [[grid.exact, grid.origin, grid.shift] for grid in plan.grids],
        "dictionaries": list(plan.dictionaries),
        "arrays": places,
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 16) % _ALIGNMENT)
    parts = [len(text).to_bytes(4, "little"), text]
    for array in arrays.values():
        parts += (array.tobytes(), b"\0" * (-array.nbytes % _ALIGNMENT))
    checksum = 0
    for part in parts:
        checksum = crc32(part, checksum)
    return b"".join((_MAGIC, checksum.to_bytes(4, "little"), *parts))


def from_bytes(buffer: bytes | memoryview) -> Plan:
    """The plan that :func:`to_bytes` wrote, its arrays views of ``buffer``; PlanError for any other bytes."""
    try:
        view = memoryview(buffer).cast("B")
    except TypeError as error:
        raise PlanError("plan", type(buffer).__name__, f"expected contiguous bytes ({error})") from None
    if bytes(view[:8]) != _MAGIC:
        raise PlanError("plan", bytes(view[:8]), f"expected bytes that begin with {_MAGIC!r}")
    if len(view) < 16 or crc32(view[12:]) != int.from_bytes(view[8:12], "little"):
        raise PlanError("plan", f"{len(view)} bytes", "they are cut short or damaged")
    try:
        start = 16 + int.from_bytes(view[12:16], "little")
        header = json.loads(bytes(view[16:start]))
        arrays = {name: _view(view, start, *place) for name, place in header["arrays"].items()}
        return _plan(header, arrays)
    except _DAMAGE as error:
        raise PlanError("plan", f"{len(view)} bytes", f"another version wrote them ({error})") from error


def _origin(attribute: PAttribute) -> bytes:
    return json.dumps([attribute.path, attribute.error_condition, attribute.weight, attribute.steps]).encode()


def _arrays(plan: Plan) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    fields = [pa.field(own.sql, own.type, metadata={b"origin": _origin(own)}) for own in plan.p_attributes]
    yield "p_attributes", np.frombuffer(pa.schema(fields).serialize(), dtype=np.uint8)
    yield "query_ids", _message(plan.query_ids)
    yield "topic_names", _message(plan.topic_names)
    for name in ("ranks", "topic_of", "match_all_handles", "contradiction_handles"):
        yield name, getattr(plan, name)
    for slot, grid in enumerate(plan.grids):
        yield f"grid.{slot}.boundaries", grid.boundaries
        yield f"grid.{slot}.table", grid.table
    for slot, dictionary in plan.dictionaries.items():
        for name in ("offsets", "data", "labels", "heads"):
            yield f"dictionary.{slot}.{name}", getattr(dictionary, name)
    for number, block in enumerate(plan.blocks):
        for name in ("slots", "bases", "matrix", "certain", "sequence", "arrows"):
            yield f"block.{number}.{name}", getattr(block, name)
        for name in ("first", "code", "low", "high", "owner"):
            yield f"table.{number}.{name}", getattr(block.table, name)


def _plan(header: dict[str, Any], arrays: Arrays) -> Plan:
    schema = pa.ipc.read_schema(pa.py_buffer(arrays["p_attributes"]))
    attributes = []
    for own in schema:
        path, condition, weight, steps = json.loads(own.metadata[b"origin"])
        path = None if path is None else tuple(path)
        attributes.append(PAttribute(own.name, own.type, path, condition, weight, steps))
    grids = [
        Grid(arrays[f"grid.{slot}.boundaries"], exact, origin, shift, arrays[f"grid.{slot}.table"])
        for slot, (exact, origin, shift) in enumerate(header["grids"])
    ]
    dictionaries = {
        slot: Dictionary(*(arrays[f"dictionary.{slot}.{name}"] for name in ("offsets", "data", "labels", "heads")))
        for slot in header["dictionaries"]
    }
    blocks = []
    for number in range(header["blocks"]):
        table = ConjunctTable(*(arrays[f"table.{number}.{name}"] for name in ("first", "code", "low", "high", "owner")))
        names = ("slots", "bases", "matrix", "certain", "sequence", "arrows")
        slots, bases, matrix, certain, sequence, arrows = (arrays[f"block.{number}.{name}"] for name in names)
        blocks.append(Block(slots, bases, matrix, certain, Order(sequence, arrows), table))
    return Plan(
        header["version"],
        CompileOptions(**header["options"]),
        tuple(attributes),
        tuple(grids),
        dictionaries,
        tuple(blocks),
        _read_message(arrays["query_ids"]),
        arrays["ranks"],
        _read_message(arrays["topic_names"]),
        arrays["topic_of"],
        arrays["match_all_handles"],
        arrays["contradiction_handles"],
        header["changes"],
    )


def _view(view: memoryview, start: int, dtype: str, shape: list[int], offset: int) -> npt.NDArray[Any]:
    if dtype not in _DTYPES:
        # numpy reads a dtype's text by a grammar of its own, and lets its exceptions through
        raise ValueError(f"array of {dtype!r}")
    count = int(np.prod(shape, dtype=np.int64))
    array = np.frombuffer(view, dtype=dtype, count=count, offset=start + offset).reshape(shape)
    if not array.flags.aligned:
        array = array.copy()
    array.setflags(write=False)
    return array


def _message(strings: pa.StringArray) -> npt.NDArray[np.uint8]:
    sink = pa.BufferOutputStream()
    batch = pa.record_batch([strings], names=["strings"])
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return np.frombuffer(sink.getvalue(), dtype=np.uint8)


def _read_message(message: npt.NDArray[np.uint8]) -> pa.StringArray:
    with pa.ipc.open_stream(pa.py_buffer(message)) as reader:
        return reader.read_next_batch().column(0)
