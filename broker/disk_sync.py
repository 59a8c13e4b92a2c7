"""The sync of a file or a folder to the disk."""

from __future__ import annotations

import os
from pathlib import Path


def sync(path: Path) -> None:
    """Write the cached content of a file, or the entries of a folder, to the disk, so that it exists after a power
    failure. Raise OSError.

    A new, renamed or removed file is an entry of its folder. So the folder has to be synced after the file.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
