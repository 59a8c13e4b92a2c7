"""The folders in that of checkpoints, one a stream: where they are, and how they are taken from a suspended daemon."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

_EPOCH = "~"
"""The character, which no stream's name has, before the number of times that a folder was taken over."""

SNAPSHOT = ".snapshot"
"""The name of the folder of snapshots, which is taken over as one of a stream is.

Names of streams begin with a letter or digit.
"""


def stream_folder(checkpoint_dir: Path, stream: str) -> Path:
    """Return the folder of a stream, which may not exist yet.

    It has the stream's name until it is taken over for the first time, and ``name~1`` from then on.
    """
    epoch = _epoch_of(checkpoint_dir, stream)
    found = _folder(checkpoint_dir, stream, epoch)
    # Somebody removed the folder, to begin anew, and left the note in the place of a former one.
    return _folder(checkpoint_dir, stream, epoch + 1) if found.is_file() else found


def take_folder(checkpoint_dir: Path, stream: str) -> Path:
    """Give the folder of a stream its next name, and return it: a daemon that knows the former name writes no more.

    Invariant: a file that is written by the former name is in the folder before this returns, or never. For all files
    of a stream are written aside and then renamed, both by their paths. A note takes the place of the former name, so
    that Spark does not make that folder again. Raises OSError.
    """
    former = stream_folder(checkpoint_dir, stream)
    taken = _folder(checkpoint_dir, stream, _epoch_of(checkpoint_dir, stream) + 1)
    if former.is_dir():
        former.rename(taken)
    # Where Spark was faster, it made folders in which nobody looks.
    with suppress(FileExistsError), former.open("x", encoding="utf-8") as note:
        note.write(f"another daemon has taken this folder over: see {taken.name}\n")
    return taken


def _folder(checkpoint_dir: Path, stream: str, epoch: int) -> Path:
    return checkpoint_dir / (f"{stream}{_EPOCH}{epoch}" if epoch else stream)


def _epoch_of(checkpoint_dir: Path, stream: str) -> int:
    found = (path.name.rpartition(_EPOCH)[2] for path in checkpoint_dir.glob(f"{stream}{_EPOCH}*"))
    return max((int(number) for number in found if number.isdecimal()), default=0)
