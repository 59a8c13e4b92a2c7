"""The cache of jars: whole or not there, filled once, mended where something is gone."""

from __future__ import annotations

import dataclasses
import hashlib
import multiprocessing
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from broker.errors import RuntimeMissingError
from broker.runtime.jars import fetch_jars, is_complete
from broker.runtime.locked_jars import JarSet, format_lock, locked_sets

if TYPE_CHECKING:
    from conftest import Mirror

_FETCH = """
import sys
from broker.runtime.jars import fetch_jars
from broker.runtime.locked_jars import parse_lock
fetch_jars(parse_lock(sys.argv[1])[0])
"""


def _fill(jar_set: JarSet, progress: multiprocessing.Queue[str]) -> None:
    fetch_jars(jar_set, progress.put)


def test_jars_are_fetched_once(mirror: Mirror, small: JarSet, empty_cache: Path, contents: Mapping[str, bytes]) -> None:
    said: list[str] = []
    jars = fetch_jars(small, said.append)
    assert {jar.parent for jar in jars} == {empty_cache / "jars" / small.folder_name}
    assert [jar.read_bytes() for jar in jars] == [contents[jar.path] for jar in small.jars]
    assert said[0].startswith("Fetching 3 jars of org.small:one:1.0, 0 MB from ")
    assert sorted(line.split()[0] for line in said[1:]) == ["1/3", "2/3", "3/3"]
    assert sorted(path.name for path in (empty_cache / "jars").iterdir()) == [".lock", small.folder_name]
    said.clear()
    assert fetch_jars(small, said.append) == jars
    assert said == []
    assert len(mirror.asked) == 3


@pytest.mark.usefixtures("empty_cache")
def test_every_locked_jar_comes_from_its_path(mirror: Mirror, locked_files: Mapping[str, Path]) -> None:
    mirror.files = dict(locked_files)
    for jar_set in locked_sets():
        fetched = {path.name for path in fetch_jars(jar_set)}
        assert fetched == {jar.file_name for jar in jar_set.jars}
    assert len(mirror.asked) == len(locked_files)


def test_a_filled_cache_needs_no_network(
    mirror: Mirror, small: JarSet, empty_cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fetch_jars(small)
    shutil.copytree(empty_cache, tmp_path / "elsewhere")
    monkeypatch.setenv("ASC_CACHE_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("ASC_MAVEN_URL", "http://127.0.0.1:9")
    assert {jar.parent for jar in fetch_jars(small)} == {tmp_path / "elsewhere" / "jars" / small.folder_name}


def test_what_is_gone_or_cut_short_is_fetched_again(mirror: Mirror, small: JarSet, empty_cache: Path) -> None:
    one, three, two = fetch_jars(small)
    mirror.asked.clear()
    one.unlink()
    two.write_bytes(two.read_bytes()[:-1])
    before = three.stat().st_ino
    assert not is_complete(small)
    assert fetch_jars(small) == [one, three, two]
    assert sorted(mirror.asked) == [one.name, two.name]
    assert three.stat().st_ino == before
    assert is_complete(small)


@pytest.mark.usefixtures("empty_cache")
def test_what_was_spoilt_is_found_where_the_bytes_are_looked_at(mirror: Mirror, small: JarSet) -> None:
    one, *_ = fetch_jars(small)
    right = one.read_bytes()
    one.write_bytes(b"x" * len(right))
    mirror.asked.clear()
    fetch_jars(small)
    assert mirror.asked == []
    fetch_jars(small, verify=True)
    assert mirror.asked == [one.name]
    assert one.read_bytes() == right


@pytest.mark.usefixtures("empty_cache")
def test_one_that_is_there_and_cannot_be_read_is_named(mirror: Mirror, small: JarSet) -> None:
    """The memory of a process is a file that opens, and whose first byte is an error of input."""
    mirror.files["org/small/one/1.0/one-1.0.jar"] = b""
    empty = dataclasses.replace(small.jars[0], size_bytes=0, sha256=hashlib.sha256(b"").hexdigest())
    jar_set = dataclasses.replace(small, jars=(empty, *small.jars[1:]))
    one, *_ = fetch_jars(jar_set)
    one.unlink()
    one.symlink_to("/proc/self/mem")
    with pytest.raises(RuntimeMissingError, match=r"one-1\.0\.jar': cannot be read \(Input/output error\); make it"):
        fetch_jars(jar_set, verify=True)


@pytest.mark.usefixtures("empty_cache")
def test_another_lock_has_its_own_jars(mirror: Mirror, small: JarSet, contents: Mapping[str, bytes]) -> None:
    before = fetch_jars(small)
    fewer = dataclasses.replace(small, jars=small.jars[:2])
    assert not is_complete(fewer)
    after = fetch_jars(fewer)
    assert {path.parent for path in after}.isdisjoint(path.parent for path in before)
    assert sorted(path.name for path in after[0].parent.iterdir()) == [jar.file_name for jar in fewer.jars]


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_download_is_begun_anew(
    mirror: Mirror, small: JarSet, empty_cache: Path, end: signal.Signals
) -> None:
    name = small.jars[0].file_name
    mirror.held[name] = threading.Event()
    command = [sys.executable, "-c", _FETCH, format_lock([small])]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as first:
        assert mirror.reached.wait(60)
        first.send_signal(end)
        # Ctrl-C does not wait for a network that says nothing more: the other half is held back until it has ended.
        first.communicate(timeout=60)
    assert first.returncode == -end
    assert (empty_cache / "jars" / "fetching").exists() == (end == signal.SIGKILL)
    assert not (empty_cache / "jars" / small.folder_name).exists()
    mirror.held.pop(name).set()
    assert len(fetch_jars(small)) == 3
    assert not (empty_cache / "jars" / "fetching").exists()


@pytest.mark.usefixtures("mirror")
def test_a_failing_progress_ends_the_download(small: JarSet, empty_cache: Path) -> None:
    class StopError(OSError):
        """As a closed pipe is: nothing of the cache's."""

    def stop(line: str) -> None:
        if line.startswith("  "):
            raise StopError(line)

    with pytest.raises(StopError):
        fetch_jars(small, stop)
    assert [path.name for path in (empty_cache / "jars").iterdir()] == [".lock"]
    assert len(fetch_jars(small)) == 3


@pytest.mark.usefixtures("empty_cache")
def test_two_first_starts_make_one_download(mirror: Mirror, small: JarSet) -> None:
    context = multiprocessing.get_context("spawn")
    progress: multiprocessing.Queue[str] = context.Queue()
    starts = [context.Process(target=_fill, args=(small, progress)) for _ in range(2)]
    for start in starts:
        start.start()
    lines = [progress.get(timeout=60) for _ in range(4)]
    for start in starts:
        start.join()
    assert [start.exitcode for start in starts] == [0, 0]
    assert progress.empty()
    assert len([line for line in lines if line.startswith("Fetching")]) == 1
    assert len(mirror.asked) == 3
