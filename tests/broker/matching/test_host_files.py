"""What the executors of a host share: found by its name, never another's, gone with who had it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from broker.matching.host_files import host_files


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path / f"asc-parts-{os.getuid()}"


def own(folder: Path, name: str, content: bytes = b"content") -> Path:
    path = folder.parent / name
    path.write_bytes(content)
    return path


def opened(name: str, path: Path) -> int:
    """The inode of what is opened."""
    with host_files() as files, files.open(name, path) as file:
        return os.fstat(file.fileno()).st_ino


def test_the_second_opens_the_file_of_the_first(folder: Path) -> None:
    first, second = own(folder, "first"), own(folder, "second")
    assert opened("part", first) == first.stat().st_ino
    assert opened("part", second) == first.stat().st_ino
    assert opened("another part", second) == second.stat().st_ino


def test_what_is_gone_is_made_up_for_and_swept(folder: Path) -> None:
    first, second = own(folder, "first"), own(folder, "second")
    opened("part", first)
    opened("another part", first)
    first.unlink()
    assert opened("part", second) == second.stat().st_ino
    assert {link.name for link in folder.iterdir()} == {".lock", "part"}


def test_a_file_of_another_length_is_not_taken_for_it(folder: Path) -> None:
    first, second = own(folder, "first", b"cut"), own(folder, "second")
    opened("part", first)
    assert opened("part", second) == second.stat().st_ino


@pytest.mark.parametrize("mode", [0o755, 0o777])
def test_links_that_others_may_have_made_are_not_followed(folder: Path, mode: int) -> None:
    first, second = own(folder, "first"), own(folder, "second")
    opened("part", first)
    folder.chmod(mode)
    assert opened("part", second) == second.stat().st_ino


def test_a_folder_that_is_a_link_is_not_entered(folder: Path) -> None:
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    folder.symlink_to(elsewhere)
    first = own(folder, "first")
    assert opened("part", first) == first.stat().st_ino
    assert list(elsewhere.iterdir()) == []


def test_where_there_may_be_no_folder_each_opens_its_own(folder: Path) -> None:
    folder.write_text("a file")
    first, second = own(folder, "first"), own(folder, "second")
    assert opened("part", first) == first.stat().st_ino
    assert opened("part", second) == second.stat().st_ino
