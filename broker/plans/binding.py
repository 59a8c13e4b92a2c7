"""The bindings of batches to versions of the queries, stored durably before a batch writes anything."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from broker.disk_sync import sync
from broker.errors import BrokerError
from broker.failure import naming
from broker.plans.offsets import Offsets

_KEPT = 2
"""The number of bindings that are stored.

Spark replays at most the last batch; the previous one is kept for inspection.
"""


@dataclass(frozen=True, slots=True)
class Binding:
    """A batch, the version it runs with, and its offsets by source partition.

    ``end_offsets``: the first offset after the batch. ``first_offsets``: the first offset of the batch, without
    partitions that were new in the batch. It is None if the file was written by an earlier release.
    """

    batch_id: int
    version: int
    end_offsets: Offsets
    first_offsets: Offsets | None = None


class BatchBindings:
    """The folder of bindings beside Spark's checkpoint of a stream: one small file for each batch, and a copy of it.

    Invariant: a file is complete (written aside, synced, renamed, folder synced) and never changes. So a batch that is
    replayed after a crash finds the version of its first run. A copy is written only after its file, so a copy without
    a file shows that the file was removed. The folder is created once. After another daemon took the folder over
    (:mod:`broker.plans.stream_folder`), this daemon cannot bind a batch, and so writes no batch.

    Bindings that are missing in Spark's offset log (its ``checkpoint`` was removed) are removed, because Spark reuses
    their ids. A further file has the number of starts of a batch that was started more than once. So the next start of
    the daemon detects a batch that ends the process.

    Cost: three syncs for each batch, five for a replayed batch.
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
        """Return the binding of the last bound batch, or None if no batch was bound.

        If that binding is lost and its batch is committed, return version -1 with the end offsets of Spark's log.
        Callers need only these offsets of a committed batch.
        """
        bound, done = max(self._ids(), default=-1), max(ids_in(self._commit_log), default=-1)
        if done > bound and (self._offsets_log / str(done)).exists():
            return Binding(done, -1, self._planned_end(done))
        return self._read(bound) if bound >= 0 else None

    def is_committed(self, batch_id: int) -> bool:
        """Return whether Spark has committed a batch, so that it never runs again."""
        return (self._commit_log / str(batch_id)).exists()

    def has(self, batch_id: int) -> bool:
        """Return whether a batch is bound."""
        return (self._folder / str(batch_id)).exists()

    def bind(self, batch_id: int, version: int) -> Binding:
        """Return the binding of a batch that begins. If it has none, bind it to ``version`` first."""
        if self.has(batch_id):
            self._note(batch_id, self.start_count(batch_id) + 1)
            return self._read(batch_id)
        self.check_folder()
        binding = Binding(batch_id, version, self._planned_end(batch_id), self._planned_first(batch_id))
        path = self._folder / str(batch_id)
        try:
            # Do not create the folder: if it was renamed, another daemon leads, and this one may not write the batch.
            write_synced(path, binding_text(binding), copy_of(path))
        except (FileNotFoundError, NotADirectoryError) as error:
            raise self._taken() from error
        for old in self._ids()[:-_KEPT]:
            self._remove(old)
        return binding

    def check_folder(self) -> None:
        """Raise BrokerError if another daemon has taken the folder over."""
        if not self._folder.is_dir():
            raise self._taken()

    def start_count(self, batch_id: int) -> int:
        """Return the number of starts of a batch, without the starts that :meth:`excuse` subtracted."""
        if not self.has(batch_id):
            return 0
        try:
            noted = json.loads(self._again.read_text("utf-8"))
            return int(noted["times"]) if noted["batch"] == batch_id else 1
        except (OSError, ValueError, KeyError, TypeError):
            return 1

    def excuse(self, batch_id: int, times: int = 1) -> None:
        """Subtract ``times`` from the number of starts of a batch, because it failed by no fault of its own."""
        if self.has(batch_id):
            self._note(batch_id, max(0, self.start_count(batch_id) - times))

    def first_offsets(self, binding: Binding) -> Offsets:
        """Return the first offsets of a bound batch, as far as they are known: see :class:`Binding`.

        Raise BrokerError if only Spark's log has them and the log cannot be read.
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
        """Return the offsets at which Spark begins a batch: the end of the previous one, or the stream's start."""
        before = batch_id - 1
        if self.has(before):
            return self._read(before).end_offsets
        return self._planned_end(before) if (self._offsets_log / str(before)).exists() else self._initial_offsets()

    def _initial_offsets(self) -> Offsets:
        # Spark writes the initial offsets of the source when it plans the first batch: a version line, then {"topic":
        # {...}}.
        try:
            return _offsets_of(json.loads(self._initial.read_text("utf-8").splitlines()[1]))
        except (OSError, ValueError, IndexError, AttributeError, TypeError):
            return {}


def _offsets_of(by_topic: Mapping[str, Mapping[str, int]]) -> Offsets:
    return {int(partition): int(offset) for offsets in by_topic.values() for partition, offset in offsets.items()}


def copy_of(path: Path) -> Path:
    """Return the path of a binding's copy. Its name differs from the name of each binding's file, which is the id of a
    batch.
    """
    return path.with_name(f"{path.name}.copy")


def binding_text(binding: Binding) -> str:
    """Return the text of a binding's file: JSON, with a checksum over the other members."""
    plain: dict[str, Any] = {"version": binding.version, "end_offsets": _plain(binding.end_offsets)}
    if binding.first_offsets is not None:
        plain["first_offsets"] = _plain(binding.first_offsets)
    return json.dumps({**plain, "crc32": crc32(json.dumps(plain).encode())})


def _plain(offsets: Offsets) -> dict[str, int]:
    return {str(partition): offset for partition, offset in sorted(offsets.items())}


def parsed_binding(batch_id: int, text: str | bytes) -> Binding:
    """Return the binding in the text of its file.

    Raise ValueError if the text is not a binding, or if its checksum differs.
    """
    try:
        plain = json.loads(text)
        # Earlier versions wrote no checksum, and no first offsets.
        noted, first = plain.pop("crc32", None), plain.get("first_offsets")
        ends = _offsets_of({"": plain["end_offsets"]})
        found = Binding(batch_id, int(plain["version"]), ends, None if first is None else _offsets_of({"": first}))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no binding: {error!r}") from error
    if noted is not None and noted != crc32(json.dumps(plain).encode()):
        raise ValueError("its sum differs")
    return found


def ids_in(folder: Path) -> list[int]:
    """Return the ids of the batches that have a file in a folder, ascending."""
    if not folder.is_dir():
        return []
    return sorted(int(path.name) for path in folder.iterdir() if path.name.isdecimal())


def write_durably(path: Path, text: str) -> None:
    """Write a file, and create its folder if needed.

    After a crash, the file is complete or has its previous content.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    write_synced(path, text)


def write_synced(path: Path, text: str, *copies: Path) -> None:
    """Write a file, and then its copies, into an existing folder.

    After a crash, each file is complete or has its previous content.
    """
    asides = {each: each.with_name(f".{each.name}.new") for each in (path, *copies)}
    for aside in asides.values():
        # Create a new file: a suspended daemon may have the old one open, and write to it when it continues.
        aside.unlink(missing_ok=True)
        with naming(aside), aside.open("x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    for each, aside in asides.items():
        aside.replace(each)
    sync(path.parent)
