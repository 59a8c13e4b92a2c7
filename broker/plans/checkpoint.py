"""The repair of a checkpoint's files that were damaged by a crash of the machine, a full disk or a user."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

from broker.errors import BrokerError
from broker.plans.binding import Binding, binding_text, copy_of, ids_in, parsed_binding, write_durably, write_synced
from broker.plans.offsets import Offsets

_LAST = 2
"""The number of offset log entries that Spark reads at a start, and of bindings that are stored."""


def begin_anew(folder: Path) -> str:
    """Return the remedy for an error text if a checkpoint cannot be repaired: to remove its folder, and start without
    it.
    """
    return f"stop the daemon and remove {folder}, and the stream begins at its starting_offsets"


def mend_checkpoint(folder: Path, topic: str) -> Iterator[str]:
    """Mend a stream's folder before its job starts, without losing a record, and yield a line for each repaired file.

    A batch's data is stored twice: its end in Spark's offset log and in the binding, its version in the binding and in
    a copy. The binding is written before any output of the batch. So an unreadable offset log entry is rewritten from
    the binding. The last unreadable entries without a binding are removed: nothing of these batches was written, and
    Spark plans them anew.

    A binding is rewritten from its copy, so that the batch is replayed with the same version of the queries. With
    another version, records for a query that was removed since would be lost. Unreadable commits are removed, from the
    last one back to the last readable one. The batch after that is replayed as it was bound, and its records arrive
    twice with the same ``asc-source``. Older entries and commits need no repair, because Spark reads only the last two
    entries and the last commit.

    ``topic``: the source topic to write if no entry has one. Raise BrokerError, with a remedy, if a file cannot be
    repaired or cannot be read from disk.
    """
    spark, bindings = folder / "spark", folder / "bindings"
    offsets, commits = spark / "offsets", spark / "commits"
    yield from _mended_identity(spark / "metadata")
    begin = spark / "sources" / "0" / "0"
    if begin.exists() and not _is_whole(begin, lines=2):
        _remove(begin)
        yield f"{begin} is damaged: where the stream begins is read from {folder / 'starting-offsets.json'}"
    for path in _newest_first(commits):
        if _is_whole(path, lines=2):
            break
        _remove(path)
        yield f"{path} is damaged: that batch {path.name} is done is not known any more"
    yield from _mended_bindings(bindings, commits)
    for path in _newest_first(offsets):
        if _is_whole(path, lines=3) or (bindings / path.name).exists() or (commits / path.name).exists():
            break
        _remove(path)
        yield f"{path} is damaged: batch {path.name} is planned anew"
    last = max(ids_in(offsets), default=-1)
    # A binding is synchronised to disk, but Spark's entry of the same batch may be lost in a crash.
    last += last >= 0 and (bindings / str(last + 1)).exists()
    for path in (offsets / str(batch_id) for batch_id in range(last, max(last - _LAST, -1), -1)):
        state = "damaged" if path.exists() else "gone"
        if path.exists() and _is_whole(path, lines=3):
            continue
        binding = bindings / path.name
        bound = _bound(binding) if binding.exists() else None
        if bound is None:
            remedy = f"is {state}, and nothing else says where batch {path.name} ended: "
            raise BrokerError("checkpoint", str(path), remedy + begin_anew(folder))
        write_durably(path, _entry(offsets, topic, bound.end_offsets))
        _forget_checksum(path)
        yield f"{path} is {state}: written anew from the binding of batch {path.name}"


def _mended_bindings(bindings: Path, commits: Path) -> Iterator[str]:
    """Mend the last bindings, including missing ones, and yield a line for each rewritten file.

    A damaged binding of a committed batch is removed, because Spark's log has its end offsets, and no more is needed.
    """
    copies = {int(path.stem) for path in bindings.glob("*.copy") if path.stem.isdecimal()}
    for batch_id in sorted({*ids_in(bindings), *copies}, reverse=True)[:_LAST]:
        path = bindings / str(batch_id)
        copy = copy_of(path)
        if path.exists() and _bound(path) is not None:
            continue
        bound = _bound(copy, batch_id) if copy.exists() else None
        if bound is not None:
            write_synced(path, binding_text(bound), copy)
            yield f"{path} is damaged: written anew from its copy"
        elif (commits / path.name).exists():
            path.unlink(missing_ok=True)
            copy.unlink(missing_ok=True)
        else:
            remedy = (
                f"is damaged, and so is its copy: nothing else says with which queries batch {batch_id} was begun. Put "
                f"one of them back, or remove both, and the batch is run with the queries as they stand now"
            )
            raise BrokerError("checkpoint", str(path), remedy)


def _mended_identity(path: Path) -> Iterator[str]:
    """Mend the file with the id of the streaming query, and yield a line if it was damaged. The new id is random."""
    if path.exists() and not _is_whole(path, lines=1):
        write_durably(path, json.dumps({"id": str(uuid.uuid4())}))
        _forget_checksum(path)
        yield f"{path} is damaged: written anew"


def _newest_first(folder: Path) -> Iterator[Path]:
    """Return the files of batches, the newest first."""
    return (folder / str(batch_id) for batch_id in reversed(ids_in(folder)))


def _is_whole(path: Path, *, lines: int) -> bool:
    """Return whether a file of Spark has the given number of lines and matches Hadoop's checksums beside it.

    Each line must be a JSON object; if there are several lines, the first is exempt. Hadoop refuses a file that does
    not match its checksums.
    """
    try:
        if not _fits_sums(path):
            return False
        found = _read(path).decode().splitlines()
        return len(found) == lines and all(isinstance(json.loads(line), dict) for line in found[lines > 1 :])
    except ValueError:
        return False


def _fits_sums(path: Path) -> bool:
    """Return whether a file matches the checksum file beside it. Return True if there is no valid checksum file.

    The checksum file has a mark, the number of bytes per checksum, and the checksums. Hadoop ignores a missing file, or
    one without the mark.
    """
    beside = path.with_name(f".{path.name}.crc")
    sums = _read(beside) if beside.exists() else b""
    if not sums.startswith(b"crc\0") or len(sums) < 8:
        return True
    content, size = _read(path), max(1, int.from_bytes(sums[4:8], "big"))
    own = b"".join(crc32(content[at : at + size]).to_bytes(4, "big") for at in range(0, len(content), size))
    return sums[8:] == own


def _bound(path: Path, batch_id: int | None = None) -> Binding | None:
    """Return the binding in a file, or None if the file has no valid binding. ``batch_id``: the id of the batch; if
    None, the file name is the id.
    """
    try:
        return parsed_binding(int(path.name) if batch_id is None else batch_id, _read(path))
    except ValueError:
        return None


def _read(path: Path) -> bytes:
    """Return the content of a file.

    Raise BrokerError if it cannot be read: it may be intact, and readable at the next start.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise BrokerError("checkpoint", str(path), f"cannot be read: {error.strerror}") from error


def _entry(offsets: Path, topic: str, ends: Offsets) -> str:
    """Return the text of an offset log entry with the offsets ``ends``. Its other lines (version and metadata) are
    copied from a readable entry if there is one.
    """
    for path in _newest_first(offsets):
        if _is_whole(path, lines=3):
            version, head, last = _read(path).decode().splitlines()
            # Keep the topic of the old entry, because these offsets belong to it, even if the stream is to read another
            # topic.
            return "\n".join([version, head, json.dumps({next(iter(json.loads(last)), topic): ends})])
    head = json.dumps({"batchWatermarkMs": 0, "batchTimestampMs": int(time.time() * 1000), "conf": {}})
    return "\n".join(["v1", head, json.dumps({topic: ends})])


def _remove(path: Path) -> None:
    path.unlink()
    _forget_checksum(path)


def _forget_checksum(path: Path) -> None:
    """Remove the checksum file of a file's former content, with which Hadoop would consider the new content damaged."""
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
