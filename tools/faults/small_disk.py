"""A small separate file system, which a fault fills to simulate a full disk."""

from __future__ import annotations

import subprocess
from pathlib import Path

_PIECE_BYTES = 1 << 16


class SmallDisk:
    """A file system in memory, mounted at a folder; only root can mount it.

    ``mount`` returns whether it could be mounted. Otherwise ``folder`` is a plain folder, which must not be filled.
    """

    def __init__(self, folder: Path, size_mb: int) -> None:
        self.folder = folder
        self.mounted = False
        self._size_mb = size_mb
        self._ballast = folder / "ballast"

    def mount(self) -> bool:
        """Create the folder and, if permitted, mount the file system. Return whether it is mounted."""
        self.folder.mkdir(parents=True, exist_ok=True)
        command = ["mount", "-t", "tmpfs", "-o", f"size={self._size_mb}m", "tmpfs", str(self.folder)]
        try:
            self.mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
        except FileNotFoundError:
            self.mounted = False
        return self.mounted

    def unmount(self) -> None:
        """Remove the file system with all its content. Do nothing if it is not mounted."""
        if self.mounted:
            subprocess.run(["umount", "-l", str(self.folder)], capture_output=True, check=False)
            self.mounted = False

    def fill(self) -> None:
        """Fill all free space. Raise RuntimeError if the file system is not mounted."""
        if not self.mounted:
            raise RuntimeError(f"{self.folder} is no file system of its own")
        with self._ballast.open("ab", buffering=0) as ballast:
            size_bytes = _PIECE_BYTES
            while size_bytes:
                try:
                    ballast.write(b"\0" * size_bytes)
                except OSError:
                    size_bytes //= 2

    def free(self) -> None:
        """Remove the content that `fill` wrote, so that the disk has free space again."""
        self._ballast.unlink(missing_ok=True)
