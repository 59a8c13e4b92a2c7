"""A file system that is full has no room for a byte, and for all of it again afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.faults.small_disk import SmallDisk


def test_it_is_filled_and_freed(tmp_path: Path) -> None:
    disk = SmallDisk(tmp_path / "disk", 1)
    try:
        if not disk.mount():
            pytest.skip("only root can mount a file system")
        disk.fill()
        with pytest.raises(OSError, match="No space left"):
            (disk.folder / "one").write_bytes(b"1")
        disk.free()
        (disk.folder / "one").write_bytes(b"1" * 1_000_000)
    finally:
        disk.unmount()
    assert list(disk.folder.iterdir()) == []


def test_a_folder_of_the_system_is_never_filled(tmp_path: Path) -> None:
    disk = SmallDisk(tmp_path, 1)
    with pytest.raises(RuntimeError, match="is no file system of its own"):
        disk.fill()
    disk.free()
    disk.unmount()
