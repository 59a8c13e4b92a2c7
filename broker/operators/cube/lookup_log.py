"""The messages of a look-up's topic: chunks of a table, then a commit with their number. The newest table with all
chunks is the table of the look-up.

A chunk has the key ``chunk/ID/NUMBER``, and its value is a part of an Arrow stream. The commit has the key ``table``.
Its value is a JSON object with the id, the number of chunks, and the size and CRC32 of the stream. After a commit, the
writer sends a tombstone for each chunk of older tables. The topic is compacted, so that in the end it contains the
chunks of only the newest table.
"""

from __future__ import annotations

import json
import logging
import re
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from asc.errors import AscError
from asc.operators.cube.lookup import LOOKUP_BYTES_MAX, Lookup
from broker.failure import one_line

LOG = logging.getLogger("asc.cubes")

COMMIT_KEY = b"table"

_FORM = 1
_CHUNK_KEY = re.compile(rb"chunk/([0-9a-f]{32})/([0-9]{6})")
_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)
_STREAM_BYTES_MOST = LOOKUP_BYTES_MAX + (4 << 20)
"""The most bytes of the Arrow stream of a table: the limit of the table, and an allowance for padding and headers."""
_PENDING_BYTES_MOST = 2 * _STREAM_BYTES_MOST
"""The most bytes of chunks that a reader keeps before it has read their commit."""


@dataclass(frozen=True, slots=True)
class StoredLookup:
    """A look-up as read from its topic: the table, and the offset and time of its commit message. ``written_us``: that
    time, in microseconds since the epoch.
    """

    lookup: Lookup
    offset: int
    written_us: int


def messages_of(lookup: Lookup, table_id: str, chunk_bytes: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield the messages of a table as keys and values: first the chunks, then the commit. ``table_id``: 32 hexadecimal
    digits that identify this version of the table.
    """
    stream = _stream_of(lookup)
    starts = range(0, len(stream), chunk_bytes)
    for number, start in enumerate(starts):
        yield b"chunk/%s/%06d" % (table_id.encode(), number), stream[start : start + chunk_bytes]
    commit = {
        "v": _FORM,
        "id": table_id,
        "key": lookup.key,
        "text_keys": lookup.has_text_keys,
        "chunks": len(starts),
        "bytes": len(stream),
        "crc32": zlib.crc32(stream),
    }
    yield COMMIT_KEY, json.dumps(commit, ensure_ascii=False, separators=(",", ":")).encode()


class LookupLog:
    """The reader of a look-up's topic. It takes the messages in the order of their offsets.

    Invariant: ``stored`` is the table of the newest commit that was complete when it was read, and None after the
    removal of the look-up. Chunks without a commit do not change ``stored``. A message of an unknown form is skipped
    and logged. A tombstone removes the chunk or table with its key.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.stored: StoredLookup | None = None
        self.next_offset = 0
        self._keys: set[bytes] = set()
        self._pending: dict[str, dict[int, bytes]] = {}
        self._pending_bytes = 0
        self._complete: list[tuple[dict[str, Any], bytes, int, int]] = []
        self._fault: str | None = None
        self._first_skipped: str | None = None
        self._skipped = 0

    @property
    def stale_keys(self) -> Collection[bytes]:
        """Return the keys of all chunks in the topic, of any table. The next writer sends tombstones for them."""
        return frozenset(self._keys)

    def take(self, key: bytes | None, value: bytes | None, offset: int, written_us: int) -> None:
        """Take the next message of the topic."""
        self.next_offset = offset + 1
        if key == COMMIT_KEY:
            self._take_commit(value, offset, written_us)
            return
        match = None if key is None else _CHUNK_KEY.fullmatch(key)
        if key is None or match is None:
            self._skipped += 1
            if self._first_skipped is None:
                shown = key[:40] if key else None
                self._first_skipped = (
                    f"at offset {offset} of its topic is skipped: its key {shown!r} is none of a look-up"
                )
        elif value is None:
            self._keys.discard(key)
            self._drop(match[1].decode(), int(match[2]))
        else:
            self._keys.add(key)
            self._keep(match[1].decode(), int(match[2]), value)

    def settle(self) -> bool:
        """Set ``stored`` to the newest complete table of the messages taken since the last call. Return whether it
        changed.

        A fault of an older commit is not reported, because compaction removes the chunks of replaced tables.
        """
        self._report_skipped()
        complete, self._complete = self._complete, []
        fault, self._fault = self._fault, None
        if fault is not None:
            self._report(fault)
        for commit, stream, offset, written_us in reversed(complete):
            try:
                self.stored = StoredLookup(_lookup_of(self.name, commit, stream, offset), offset, written_us)
                return True
            except (AscError, pa.ArrowException, ValueError, KeyError) as error:
                self._report(one_line(error))
        return False

    def _take_commit(self, value: bytes | None, offset: int, written_us: int) -> None:
        self._fault = None
        if value is None:
            self._complete, self.stored = [], None
            return
        commit = _commit_of(value)
        if commit is None:
            self._fault = f"the message at offset {offset} is no commit of this version"
            return
        chunks = self._pending.pop(commit["id"], {})
        self._pending_bytes -= sum(map(len, chunks.values()))
        missing = commit["chunks"] - len(chunks)
        stream = b"".join(chunks[number] for number in sorted(chunks))
        if missing or max(chunks) != commit["chunks"] - 1:
            self._fault = f"{missing} of its {commit['chunks']} chunks are not there"
        elif len(stream) != commit["bytes"] or zlib.crc32(stream) != commit["crc32"]:
            self._fault = "its chunks are damaged, as their CRC32 says"
        else:
            # Keep the preceding complete table as well, because it applies if this one cannot be decoded.
            self._complete = [*self._complete[-1:], (commit, stream, offset, written_us)]
            # All chunks that remain belong to tables whose writers have failed.
            self._pending.clear()
            self._pending_bytes = 0

    def _keep(self, table_id: str, number: int, value: bytes) -> None:
        chunks = self._pending.setdefault(table_id, {})
        self._pending_bytes += len(value) - len(chunks.get(number, b""))
        chunks[number] = value
        while self._pending_bytes > _PENDING_BYTES_MOST:
            oldest = next(iter(self._pending))
            self._pending_bytes -= sum(map(len, self._pending.pop(oldest).values()))
            LOG.warning("look-up '%s': chunks of table %s are dropped: no commit follows them", self.name, oldest)

    def _drop(self, table_id: str, number: int) -> None:
        gone = self._pending.get(table_id, {}).pop(number, b"")
        self._pending_bytes -= len(gone)

    def _report(self, fault: str) -> None:
        LOG.warning("look-up '%s': its newest table is skipped: %s", self.name, fault)

    def _report_skipped(self) -> None:
        """Log the skipped messages in one line, because a topic to which another program writes may have many."""
        if self._first_skipped is not None:
            more = f", and {self._skipped - 1:,} more" if self._skipped > 1 else ""
            LOG.warning("look-up '%s': the message %s%s", self.name, self._first_skipped, more)
        self._first_skipped, self._skipped = None, 0


def _commit_of(value: bytes) -> dict[str, Any] | None:
    """Return the object in the value of a commit. Return None if another version or another program wrote it."""
    try:
        plain = json.loads(value)
    except (ValueError, RecursionError):
        return None
    if not isinstance(plain, dict) or plain.get("v") != _FORM:
        return None
    numbers = [plain.get(name) for name in ("chunks", "bytes", "crc32")]
    is_form = all(type(number) is int and number >= 0 for number in numbers) and bool(plain["chunks"])
    is_named = isinstance(plain.get("id"), str) and _ID.fullmatch(plain["id"]) is not None
    return plain if is_form and is_named and isinstance(plain.get("key"), str) else None


def _stream_of(lookup: Lookup) -> bytes:
    table = lookup.table()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(memoryview(sink.getvalue()))


def _lookup_of(name: str, commit: dict[str, Any], stream: bytes, offset: int) -> Lookup:
    with pa.ipc.open_stream(stream) as reader:
        table = reader.read_all()
    table.validate(full=True)
    is_text = commit.get("text_keys") is True
    return Lookup.of(name, table, commit["key"], has_text_keys=is_text, version=offset, stamp=commit["id"])
