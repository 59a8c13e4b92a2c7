"""The cache folder: where it is, one writer at a time, and files that are there whole."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from broker.errors import RuntimeMissingError
from broker.runtime.cache import cache_folder, folder_lock, write_whole, written


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("ASC_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_the_folder_is_the_chosen_one_else_that_of_the_user(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cache_folder() == home / ".cache/asc"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("ASC_CACHE_DIR", "")
    assert cache_folder() == home / ".cache/asc"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg/asc"
    monkeypatch.setenv("ASC_CACHE_DIR", "~/own")
    assert cache_folder() == home / "own"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASC_CACHE_DIR", "relative/own")
    assert cache_folder() == tmp_path / "relative/own"
    assert (tmp_path / "relative/own").is_dir()


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ("file/cache", "cannot be written (Not a directory)"),
        ("x" * 300, "cannot be written (File name too long)"),
        ("~nobody-of-this-name/cache", "begins with a home folder that is not known"),
    ],
)
def test_a_folder_that_cannot_be_is_named_with_what_to_do(
    chosen: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASC_CACHE_DIR", chosen)
    with pytest.raises(RuntimeMissingError) as caught:
        cache_folder()
    assert str(caught.value).startswith("cache folder '")
    assert f"{said}; name another folder in ASC_CACHE_DIR" in str(caught.value)


def test_a_full_disk_is_told_apart(tmp_path: Path) -> None:
    def fill() -> None:
        with written(tmp_path), Path("/dev/full").open("w") as full:
            full.write("x")

    with pytest.raises(RuntimeMissingError, match=r"is full \(No space left on device\); free space, or name another"):
        fill()


def test_what_is_no_trouble_with_the_folder_is_passed_on(tmp_path: Path) -> None:
    with pytest.raises(KeyError), written(tmp_path):
        raise KeyError("x")


def test_the_folder_is_held_by_one_at_a_time_and_made_where_it_is_missing(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    inside, greatest = 0, 0

    def hold() -> None:
        nonlocal inside, greatest
        for _ in range(20):
            with folder_lock(folder):
                inside += 1
                greatest = max(greatest, inside)
                inside -= 1

    threads = [threading.Thread(target=hold) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (inside, greatest) == (0, 1)


_HOLDER = """
import sys
from pathlib import Path
from broker.runtime.cache import folder_lock
with folder_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_another_process_holds_the_folder_until_it_dies(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _HOLDER, str(tmp_path)]
    taken = threading.Event()

    def take() -> None:
        with folder_lock(tmp_path):
            taken.set()

    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        thread = threading.Thread(target=take)
        thread.start()
        assert not taken.wait(0.05)
        holder.kill()
        thread.join(30)
        assert taken.is_set()


def test_an_error_within_frees_the_folder(tmp_path: Path) -> None:
    with pytest.raises(KeyError), folder_lock(tmp_path):
        raise KeyError("x")
    with folder_lock(tmp_path):
        pass


def test_a_file_is_written_whole_and_only_when_it_differs(tmp_path: Path) -> None:
    path = write_whole(tmp_path / "a" / "file", "one")
    first = path.stat().st_mtime_ns
    write_whole(path, "one")
    assert path.stat().st_mtime_ns == first
    write_whole(path, "two")
    assert path.read_text() == "two"
    assert [entry.name for entry in path.parent.iterdir()] == ["file"]


def test_a_reader_sees_the_old_or_the_new_text(tmp_path: Path) -> None:
    texts = ["a" * 300_000, "b" * 200_000]
    path = write_whole(tmp_path / "file", texts[0])
    seen: set[str] = set()
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            seen.add(path.read_text())

    reader = threading.Thread(target=read)
    reader.start()
    for turn in range(1, 40):
        write_whole(path, texts[turn % 2], 0o755)
    done.set()
    reader.join()
    assert seen <= set(texts)
    assert path.stat().st_mode & 0o777 == 0o755
