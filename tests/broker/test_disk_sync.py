"""What is synced is a file or a folder, and its descriptor is closed also where the disk refuses."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from broker.disk_sync import sync


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that the system was asked to sync."""
    found: list[str] = []
    real = os.fsync

    def noting(descriptor: int) -> None:
        found.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", noting)
    return found


def test_a_file_and_its_folder_are_synced(synced: list[str], tmp_path: Path) -> None:
    file = tmp_path / "noted"
    file.write_text("a")
    sync(file)
    sync(tmp_path)
    assert synced == [str(file), str(tmp_path)]


def test_no_descriptor_stays_open(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="Input/output error"):
        sync(tmp_path)
    opened = [os.path.realpath(each) for each in Path("/proc/self/fd").iterdir()]
    assert str(tmp_path) not in opened


def test_what_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        sync(tmp_path / "gone")
