"""Bindings of batches to versions of the queries, durable before a batch writes anything."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from broker.errors import BrokerError
from broker.failure import naming
from broker.plans.offsets import Offsets

_KEPT = 2
"""Spark replays at most the last batch; the one before it is kept for the reader of the folder."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A batch, the version it is run with, and its offsets by source partition: the first after it, and its own first.

    ``first_offsets``: those that are known of what Spark planned: of a partition that was new in the batch there is
    none. None where the file is of an earlier version, which did not write them.
    """

    batch_id: int
    version: int
    end_offsets: Offsets
    first_offsets: Offsets | None = None


class BatchBindings:
    """One small file a batch, named by its id, and a copy of it, in a folder beside Spark's checkpoint of the stream.

    Invariant: a file is whole (written aside, synced, renamed, folder synced) and never changes. So a batch that is
    replayed after a crash finds the version that it was first run with. A copy is there only where the file was before
    it, so that a copy alone is of a file that somebody took away. The folder is made once: a daemon whose folder was
    taken over (:mod:`broker.plans.stream_folder`) binds no batch any more, and so writes none. Bindings that Spark's
    offset log does not know (its ``checkpoint`` was removed) are removed, for their ids will be given again. Beside
    them a file has the number of starts of a batch that was started more than once. So a batch that ends the process is
    known for it at the next start.
    Cost: three syncs a batch, five of one that is run again. Source: spec, section 3.
    """

    def __init__(self, folder: Path, checkpoint: Path) -> None:
        self._folder = folder
        self._again = folder / "begun-again"
        self._offsets_log, self._commit_log = checkpoint / "offsets", checkpoint / "commits"
        self._initial = checkpoint / "sources" / "0" / "0"
        folder.mkdir(parents=True, exist_ok=True)
        last = max(ids_in(self._offsets_log), default=-1)
        for outlived in (batch_id for batch_id in self._ids() if batch_id > last):
            self._remove(outlived)
            self._again.unlink(missing_ok=True)

    def last(self) -> Binding | None:
        """Return the binding of the last batch that was bound. Where that is lost and the batch done, nothing is asked
        for but where it ended, which Spark's log says as well: its version is given as -1.
        """
        bound, done = max(self._ids(), default=-1), max(ids_in(self._commit_log), default=-1)
        if done > bound and (self._offsets_log / str(done)).exists():
            return Binding(done, -1, self._planned_end(done))
        return self._read(bound) if bound >= 0 else None

    def is_committed(self, batch_id: int) -> bool:
        """Return whether Spark has noted a batch as done: it never runs it again."""
        return (self._commit_log / str(batch_id)).exists()

    def has(self, batch_id: int) -> bool:
        """Return whether a batch is bound."""
        return (self._folder / str(batch_id)).exists()

    def bind(self, batch_id: int, version: int) -> Binding:
        """Return the binding of a batch that begins: the one it already has, else a new one to ``version``."""
        if self.has(batch_id):
            self._note(batch_id, self.times_begun(batch_id) + 1)
            return self._read(batch_id)
        self.check_folder()
        binding = Binding(batch_id, version, self._planned_end(batch_id), self._planned_first(batch_id))
        path = self._folder / str(batch_id)
        try:
            # Its folder is not made again: where that has another name, a batch that is written is the new leader's.
            write_synced(path, binding_text(binding), copy_of(path))
        except (FileNotFoundError, NotADirectoryError) as error:
            raise self._taken() from error
        for old in self._ids()[:-_KEPT]:
            self._remove(old)
        return binding

    def check_folder(self) -> None:
        """Raise BrokerError where another daemon has taken the folder over."""
        if not self._folder.is_dir():
            raise self._taken()

    def times_begun(self, batch_id: int) -> int:
        """Return how often a batch was started and not done by its own fault: see :meth:`excuse`."""
        if not self.has(batch_id):
            return 0
        try:
            noted = json.loads(self._again.read_text("utf-8"))
            return int(noted["times"]) if noted["batch"] == batch_id else 1
        except (OSError, ValueError, KeyError, TypeError):
            return 1

    def excuse(self, batch_id: int, times: int = 1) -> None:
        """Count a batch as started so many times less: it failed by no fault of its own."""
        if self.has(batch_id):
            self._note(batch_id, max(0, self.times_begun(batch_id) - times))

    def first_offsets(self, binding: Binding) -> Offsets:
        """Return the first offsets of a bound batch, as far as they are known: see :class:`Binding`. BrokerError where
        only Spark's log says them and cannot be read.
        """
        return self._planned_first(binding.batch_id) if binding.first_offsets is None else binding.first_offsets

    def _taken(self) -> BrokerError:
        return BrokerError("checkpoint", str(self._folder), "another daemon has taken it over: this one writes no more")

    def _note(self, batch_id: int, times: int) -> None:
        write_durably(self._again, json.dumps({"batch": batch_id, "times": times}))

    def _remove(self, batch_id: int) -> None:
        path = self._folder / str(batch_id)
        copy_of(path).unlink(missing_ok=True)
        path.unlink(missing_ok=True)

    def _ids(self) -> list[int]:
        return ids_in(self._folder)

    def _read(self, batch_id: int) -> Binding:
        path = self._folder / str(batch_id)
        try:
            return parsed_binding(batch_id, path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise BrokerError("batch binding", str(path), f"cannot be read: {error}") from error

    def _planned_end(self, batch_id: int) -> Offsets:
        # Spark writes a batch's end offsets into its log before it runs the batch: a version line, a line of
        # metadata, and one line a source, {"topic": {"partition": offset}}.
        path = self._offsets_log / str(batch_id)
        try:
            return _offsets_of(json.loads(path.read_text("utf-8").splitlines()[2]))
        except (OSError, ValueError, IndexError, AttributeError) as error:
            raise BrokerError("offset log of Spark", str(path), f"cannot be read: {error}") from error

    def _planned_first(self, batch_id: int) -> Offsets:
        """Return where Spark begins a batch: where the one before ended, or where the stream's first batch begins."""
        before = batch_id - 1
        if self.has(before):
            return self._read(before).end_offsets
        return self._planned_end(before) if (self._offsets_log / str(before)).exists() else self._initial_offsets()

    def _initial_offsets(self) -> Offsets:
        # Of the source, Spark notes them when it plans the first batch: a version line, then {"topic": {...}}.
        try:
            return _offsets_of(json.loads(self._initial.read_text("utf-8").splitlines()[1]))
        except (OSError, ValueError, IndexError, AttributeError, TypeError):
            return {}


def _offsets_of(by_topic: Mapping[str, Mapping[str, int]]) -> Offsets:
    return {int(partition): int(offset) for offsets in by_topic.values() for partition, offset in offsets.items()}


def copy_of(path: Path) -> Path:
    """Return where the copy of a binding is: of the name of no batch."""
    return path.with_name(f"{path.name}.copy")


def binding_text(binding: Binding) -> str:
    """Return the text of a binding's file: JSON, with a checksum of the rest that reveals a changed byte."""
    plain: dict[str, Any] = {"version": binding.version, "end_offsets": _plain(binding.end_offsets)}
    if binding.first_offsets is not None:
        plain["first_offsets"] = _plain(binding.first_offsets)
    return json.dumps({**plain, "crc32": crc32(json.dumps(plain).encode())})


def _plain(offsets: Offsets) -> dict[str, int]:
    return {str(partition): offset for partition, offset in sorted(offsets.items())}


def parsed_binding(batch_id: int, text: str | bytes) -> Binding:
    """Return the binding in the text of its file; ValueError where it is none, or not as it was written."""
    try:
        plain = json.loads(text)
        # Earlier versions wrote no sum, and no first offsets.
        noted, first = plain.pop("crc32", None), plain.get("first_offsets")
        ends = _offsets_of({"": plain["end_offsets"]})
        found = Binding(batch_id, int(plain["version"]), ends, None if first is None else _offsets_of({"": first}))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no binding: {error!r}") from error
    if noted is not None and noted != crc32(json.dumps(plain).encode()):
        raise ValueError("its sum differs")
    return found


def ids_in(folder: Path) -> list[int]:
    """Return the batches that a folder has a file of, ascending."""
    if not folder.is_dir():
        return []
    return sorted(int(path.name) for path in folder.iterdir() if path.name.isdecimal())


def write_durably(path: Path, text: str) -> None:
    """Write a file, and the folder for it, so that after a crash it is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_synced(path, text)


def write_synced(path: Path, text: str, *copies: Path) -> None:
    """Write a file in a folder that is there, so that after a crash it is there whole or not at all; then its copies,
    in the same folder.
    """
    asides = {each: each.with_name(f".{each.name}.new") for each in (path, *copies)}
    for aside in asides.values():
        # Not into a file that is there: a daemon that stands still may have it open, and write to it when it goes on.
        aside.unlink(missing_ok=True)
        with naming(aside), aside.open("x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    for each, aside in asides.items():
        aside.replace(each)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
