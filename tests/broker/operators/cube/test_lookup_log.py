"""The messages of a look-up's topic: the newest complete table applies, whatever else is in the topic."""

from __future__ import annotations

import json
from itertools import count

import pyarrow as pa
import pytest

from asc.operators.cube.lookup import Lookup
from broker.operators.cube import lookup_log
from broker.operators.cube.lookup_log import COMMIT_KEY, LookupLog, messages_of

Message = tuple[bytes | None, bytes | None]


def table(*makers: str) -> Lookup:
    keys = [f"N{number}" for number in range(len(makers))]
    return Lookup.of("planes", pa.table({"tailnum": keys, "maker": list(makers)}), "tailnum", has_text_keys=True)


def messages(table_id: int, *makers: str) -> list[Message]:
    return list(messages_of(table(*makers), f"{table_id:032x}", 64))


def read(*parts: list[Message], log: LookupLog | None = None, settles: bool = True) -> LookupLog:
    own = LookupLog("planes") if log is None else log
    offsets = count(own.next_offset)
    for key, value in (message for part in parts for message in part):
        own.take(key, value, next(offsets), 0)
    if settles:
        own.settle()
    return own


def makers(log: LookupLog) -> list[str] | None:
    return None if log.stored is None else log.stored.lookup.attributes["maker"].to_pylist()


def test_a_table_is_read_from_its_chunks_and_its_version_is_the_offset_of_its_commit() -> None:
    written = messages(1, "BOEING", "ÄIRBUS")
    assert len(written) > 3
    log = read(written)
    assert log.stored is not None
    found = log.stored.lookup
    assert (makers(log), found.key, found.has_text_keys) == (["BOEING", "ÄIRBUS"], "tailnum", True)
    assert (found.version, found.stamp) == (len(written) - 1, f"{1:032x}")
    assert set(log.stale_keys) == {key for key, _ in written[:-1]}


@pytest.mark.parametrize("lost", [slice(-1, None), slice(0, 1), slice(1, 2)])
def test_a_half_written_table_does_not_replace_the_former_one(lost: slice, caplog: pytest.LogCaptureFixture) -> None:
    first, second = messages(1, "a"), messages(2, "b")
    del second[lost]
    together = read(first, second)
    apart = read(second, log=read(first))
    assert makers(together) == makers(apart) == ["a"]
    assert ("is skipped: 1 of its" in caplog.text) == (lost.stop is not None)
    # The next complete table holds, and its writer knows the chunks that are left.
    log = read(messages(3, "c"), log=together)
    assert makers(log) == ["c"]
    assert {key for key, _ in first[:-1]} < set(log.stale_keys)


def test_chunks_of_a_replaced_table_that_compaction_removed_are_no_fault(caplog: pytest.LogCaptureFixture) -> None:
    first, second = messages(1, "a"), messages(2, "b")
    log = read(first[1:], second, [(first[0][0], None)])
    assert makers(log) == ["b"]
    assert first[0][0] not in log.stale_keys
    assert not caplog.records


def test_a_removed_look_up_is_gone_and_may_come_again() -> None:
    log = read(messages(1, "a"), [(COMMIT_KEY, None)])
    assert makers(log) is None
    assert makers(read(messages(2, "b"), log=log)) == ["b"]
    assert makers(read([(COMMIT_KEY, None)], log=log)) is None


def damaged(own: list[Message]) -> list[Message]:
    key, value = own[0]
    assert value is not None
    return [(key, value[:-1] + bytes([value[-1] ^ 1])), *own[1:]]


def with_commit(own: list[Message], **changes: object) -> list[Message]:
    value = own[-1][1]
    assert value is not None
    return [*own[:-1], (COMMIT_KEY, json.dumps({**json.loads(value), **changes}).encode())]


FOREIGN: dict[str, list[Message]] = {
    "damaged": damaged(messages(2, "b")),
    "size": with_commit(messages(2, "b"), bytes=7),
    "form": with_commit(messages(2, "b"), v=2),
    "id": with_commit(messages(2, "b"), id="../x"),
    "chunks": with_commit(messages(2, "b"), chunks=-1),
    "key": with_commit(messages(2, "b"), key="tail"),
    "no object": [(COMMIT_KEY, b"[]")],
    "no JSON": [(COMMIT_KEY, b"\xff")],
    "deep": [(COMMIT_KEY, b"[" * 100_000)],
    "no key": [(None, b"x")],
    "foreign key": [(b"chunk/x", b"x")],
    "many": [(b"%d" % number, b"x") for number in range(1_000)],
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_damaged_or_foreign_message_is_skipped_with_one_line(name: str, caplog: pytest.LogCaptureFixture) -> None:
    log = read(messages(1, "a"), FOREIGN[name])
    assert makers(log) == ["a"]
    assert len(caplog.records) == 1
    assert "\n" not in caplog.text.rstrip("\n")
    assert "look-up 'planes'" in caplog.text


def test_a_reader_keeps_few_chunks_without_a_commit(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(lookup_log, "_PENDING_BYTES_MOST", 2_000)
    log = read(messages(1, "a"), *(messages(number, "b" * 300)[:-1] for number in range(2, 9)), settles=False)
    assert log._pending_bytes == sum(len(own) for chunks in log._pending.values() for own in chunks.values()) <= 2_000
    log.settle()
    assert makers(log) == ["a"]
    assert "are dropped: no commit follows them" in caplog.text
