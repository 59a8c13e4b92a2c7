"""The cache of jars: complete or not there, filled once, one line where it cannot be."""

from __future__ import annotations

import multiprocessing
import os
import shutil
from pathlib import Path

import pytest

from broker.errors import RuntimeMissingError
from broker.runtime.cache import cache_folder, folder_lock, write_whole
from broker.runtime.jars import KAFKA_BROKER, JarSet, fetch_jars, spark_connector
from broker.runtime.java import Java, find_java

_MISSING = JarSet("missing", "org.apache.kafka", "no-such-module", "0.0.0")


@pytest.fixture
def empty_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("ASC_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every JVM's way out leads to a closed port."""
    options = " ".join(f"-D{scheme}.proxyHost=127.0.0.1 -D{scheme}.proxyPort=9" for scheme in ("http", "https"))
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", options)


def _fill(folder: str, progress: multiprocessing.Queue[str], jar_set: JarSet, java: Java) -> None:
    os.environ["ASC_CACHE_DIR"] = folder
    fetch_jars(jar_set, java, progress.put)


def test_the_connector_is_that_of_the_installed_spark() -> None:
    import pyspark

    names = [path.name for path in fetch_jars(spark_connector(), find_java())]
    assert f"spark-sql-kafka-0-10_2.13-{pyspark.__version__}.jar" in names
    assert any(name.startswith("kafka-clients-") for name in names)
    # What PySpark ships is not fetched again.
    assert not any(name.startswith(("hadoop-", "scala-library-", "slf4j-api-")) for name in names)


def test_a_filled_cache_needs_no_network(offline: None) -> None:
    said: list[str] = []
    assert len(fetch_jars(KAFKA_BROKER, find_java(), said.append)) > 40
    assert said == []


def test_without_a_network_the_error_says_what_to_do_and_nothing_half_is_left(empty_cache: Path, offline: None) -> None:
    with pytest.raises(RuntimeMissingError) as raised:
        fetch_jars(KAFKA_BROKER, find_java())
    said = str(raised.value)
    assert "org.apache.kafka:kafka_2.13" in said
    assert "ASC_CACHE_DIR" in said
    assert "\n" not in said
    assert [path.name for path in (empty_cache / "jars").iterdir() if path.is_dir()] == []


def test_an_interrupted_download_is_swept_and_begun_anew(empty_cache: Path, offline: None) -> None:
    half = empty_cache / "jars" / "fetching" / "jars"
    half.mkdir(parents=True)
    (half / f"{_MISSING.module}-0.0.0.jar").write_bytes(b"half of a jar")
    with pytest.raises(RuntimeMissingError, match="no-such-module"):
        fetch_jars(_MISSING, find_java())
    assert not half.exists()


def test_a_failing_progress_ends_the_download(empty_cache: Path) -> None:
    class StopError(Exception):
        pass

    def stop(line: str) -> None:
        raise StopError(line)

    with pytest.raises(StopError):
        fetch_jars(_MISSING, find_java(), stop)
    with folder_lock(empty_cache / "jars"):
        assert not (empty_cache / "jars" / "missing-0.0.0").exists()


@pytest.mark.slow
def test_two_first_starts_make_one_download(empty_cache: Path) -> None:
    """Needs the network, as a first start does."""
    context = multiprocessing.get_context("spawn")
    progress: multiprocessing.Queue[str] = context.Queue()
    small = JarSet("small", "org.slf4j", "slf4j-api", "1.7.36")
    starts = [context.Process(target=_fill, args=(str(empty_cache), progress, small, find_java())) for _ in range(2)]
    for start in starts:
        start.start()
    for start in starts:
        start.join()
    assert [start.exitcode for start in starts] == [0, 0]
    lines = []
    while not progress.empty():
        lines.append(progress.get())
    assert len([line for line in lines if line.startswith("Fetching")]) == 1
    assert [path.name for path in (empty_cache / "jars" / "small-1.7.36").iterdir()] == ["slf4j-api-1.7.36.jar"]


def test_a_cache_copied_elsewhere_is_as_good(empty_cache: Path, monkeypatch: pytest.MonkeyPatch, offline: None) -> None:
    monkeypatch.delenv("ASC_CACHE_DIR")
    filled = cache_folder() / "jars" / f"{KAFKA_BROKER.name}-{KAFKA_BROKER.version}"
    copy = empty_cache / "jars" / filled.name
    copy.mkdir(parents=True)
    for jar in filled.glob("kafka*.jar"):
        shutil.copy(jar, copy)
    monkeypatch.setenv("ASC_CACHE_DIR", str(empty_cache))
    assert {path.parent for path in fetch_jars(KAFKA_BROKER, find_java())} == {copy}


def test_a_file_is_written_whole_and_only_when_it_differs(tmp_path: Path) -> None:
    path = write_whole(tmp_path / "a" / "file", "one")
    first = path.stat().st_mtime_ns
    write_whole(path, "one")
    assert path.stat().st_mtime_ns == first
    write_whole(path, "two")
    assert path.read_text() == "two"
    assert [entry.name for entry in path.parent.iterdir()] == ["file"]
