"""The folders of streams and of their cubes in the checkpoint folder: their paths, and how a new leader takes them over
from a suspended daemon.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_EPOCH = "~"
"""The character before the number of takeovers in a folder's name. No stream name contains it."""

SNAPSHOT = ".snapshot"
"""The name of the folder of snapshots, which is taken over like a stream's folder.

No stream has this name, because names of streams begin with a letter or digit.
"""

CUBES = ".cubes"
"""The name of the folder of cubes. It has one folder for each stream, which is taken over like a stream's folder."""


def stream_folder(checkpoint_dir: Path, stream: str) -> Path:
    """Return the path of a stream's folder, which may not exist yet.

    The folder has the stream's name until the first takeover, and ``name~1`` after it.
    """
    epoch = _epoch_of(checkpoint_dir, stream)
    found = _folder(checkpoint_dir, stream, epoch)
    # A user removed the folder of the stream for a new start, but the note of a former takeover is still there.
    return _folder(checkpoint_dir, stream, epoch + 1) if found.is_file() else found


def takeovers_of(folder: Path) -> int:
    """Return the number of takeovers in the name of a folder.

    >>> takeovers_of(Path("flights")), takeovers_of(Path("flights~2"))
    (0, 2)
    """
    number = folder.name.rpartition(_EPOCH)[2]
    return int(number) if _EPOCH in folder.name and number.isdecimal() else 0


def take_folders(checkpoint_dir: Path, streams: Iterable[str]) -> None:
    """Take over the folders of streams, of their cubes, and of snapshots. Raise OSError.

    The folder of a stream comes before the folder of its cubes. So the cubes contain every batch that the new leader
    finds as done in the stream's folder: a batch is committed to the cubes before Spark notes it as done.
    """
    cubes = checkpoint_dir / CUBES
    for stream in streams:
        take_folder(checkpoint_dir, stream)
        # Also if there are no cubes, so that the former leader cannot create a file under the former name.
        cubes.mkdir(exist_ok=True)
        take_folder(cubes, stream)
    take_folder(checkpoint_dir, SNAPSHOT)


def take_folder(checkpoint_dir: Path, stream: str) -> Path:
    """Rename the folder of a stream to its next name, and return the path, so that the former owner cannot write to it.

    Invariant: after this function returns, no write under the former name adds a file to the folder. The reason is that
    all files of a stream are written aside and then renamed, by path. The file of cubes is the exception, because the
    former owner has it open; the new owner copies this file. A note replaces the folder under the former name, so that
    Spark does not create that folder again. Raise OSError.
    """
    former = stream_folder(checkpoint_dir, stream)
    taken = _folder(checkpoint_dir, stream, takeovers_of(former) + 1)
    # Twice, because the former owner may create the folder before the note exists.
    for _ in range(2):
        if former.is_dir():
            former.rename(taken)
        # If Spark creates the folder before the note exists, nothing reads that folder.
        with suppress(FileExistsError), former.open("x", encoding="utf-8") as note:
            note.write(f"another daemon has taken this folder over: see {taken.name}\n")
        if taken.is_dir() or former.is_file():
            break
    return taken


def _folder(checkpoint_dir: Path, stream: str, epoch: int) -> Path:
    return checkpoint_dir / (f"{stream}{_EPOCH}{epoch}" if epoch else stream)


def _epoch_of(checkpoint_dir: Path, stream: str) -> int:
    found = (path.name.rpartition(_EPOCH)[2] for path in checkpoint_dir.glob(f"{stream}{_EPOCH}*"))
    return max((int(number) for number in found if number.isdecimal()), default=0)
