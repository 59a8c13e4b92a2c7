"""Files of a checkpoint that a crash of the machine, a full disk or somebody damaged, and what makes up for them."""

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
"""Entries of the log of offsets that Spark reads at a start, and bindings that are kept."""


def begin_anew(folder: Path) -> str:
    """Return the remedy where nothing else helps."""
    return f"stop the daemon and remove {folder}, and the stream begins at its starting_offsets"


def mend_checkpoint(folder: Path, topic: str) -> Iterator[str]:
    """Mend what can be mended of a stream's folder before its job starts, without losing a record; a line for each
    file.

    A batch and its version are known twice: Spark's log of offsets and the binding have its end, the binding and a copy
    its version. The binding is there before anything of the batch is written. So an entry of the log that cannot be
    read is written anew from the binding. The last entries without a binding are removed: nothing of those batches was
    written, and they are planned anew. A binding is written anew from its copy: with another version, records that were
    to reach a query before its removal would be lost. Commits of batches are removed from the last one back to the last
    that can be read. The batch after that is run once more, as it was bound, and its records come twice with the same
    ``asc-source``. Spark reads the last two entries and the last commit. ``topic`` is the source where no entry says
    which. Raises BrokerError, with what to do, for what cannot be mended, and for a file that is there and cannot be
    read at all.
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
    # What a batch was bound to is on the disk for sure, the entry before it maybe not.
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
    """Yield the last bindings, those among them that are gone. That of a batch which is done says nothing that is asked
    for but where it ended, which Spark's log says as well.
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
    """Yield the file that names the query: any name will do."""
    if path.exists() and not _is_whole(path, lines=1):
        write_durably(path, json.dumps({"id": str(uuid.uuid4())}))
        _forget_checksum(path)
        yield f"{path} is damaged: written anew"


def _newest_first(folder: Path) -> Iterator[Path]:
    """Return the files of batches, the last one first."""
    return (folder / str(batch_id) for batch_id in reversed(ids_in(folder)))


def _is_whole(path: Path, *, lines: int) -> bool:
    """Return whether a file of Spark's has so many lines and fits the checksums that Hadoop keeps beside it.

    The lines are JSON, but for the first one where there are several. Hadoop reads no file that does not fit.
    """
    try:
        if not _fits_sums(path):
            return False
        found = _read(path).decode().splitlines()
        return len(found) == lines and all(isinstance(json.loads(line), dict) for line in found[lines > 1 :])
    except ValueError:
        return False


def _fits_sums(path: Path) -> bool:
    """Return whether the sums beside a file are its own: a mark, the bytes that each is of, and the sums. Hadoop reads
    a file without them, or with what has not the mark.
    """
    beside = path.with_name(f".{path.name}.crc")
    sums = _read(beside) if beside.exists() else b""
    if not sums.startswith(b"crc\0") or len(sums) < 8:
        return True
    content, size = _read(path), max(1, int.from_bytes(sums[4:8], "big"))
    own = b"".join(crc32(content[at : at + size]).to_bytes(4, "big") for at in range(0, len(content), size))
    return sums[8:] == own


def _bound(path: Path, batch_id: int | None = None) -> Binding | None:
    """Return the binding in a file, of the batch of that id, or that the file is named by; None for no binding."""
    try:
        return parsed_binding(int(path.name) if batch_id is None else batch_id, _read(path))
    except ValueError:
        return None


def _read(path: Path) -> bytes:
    """Return the content of a file. One that cannot be read is not damaged: maybe the next start can read it."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise BrokerError("checkpoint", str(path), f"cannot be read: {error.strerror}") from error


def _entry(offsets: Path, topic: str, ends: Offsets) -> str:
    """Return an entry of the log of offsets, with what else it says taken from one that can be read."""
    for path in _newest_first(offsets):
        if _is_whole(path, lines=3):
            version, head, last = _read(path).decode().splitlines()
            # The topic that these offsets are of, whatever the stream is to read now.
            return "\n".join([version, head, json.dumps({next(iter(json.loads(last)), topic): ends})])
    head = json.dumps({"batchWatermarkMs": 0, "batchTimestampMs": int(time.time() * 1000), "conf": {}})
    return "\n".join(["v1", head, json.dumps({topic: ends})])


def _remove(path: Path) -> None:
    path.unlink()
    _forget_checksum(path)


def _forget_checksum(path: Path) -> None:
    """Remove the checksum of a file's former content: Hadoop would take the new one for damaged."""
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
