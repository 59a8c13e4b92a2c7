"""The archive of a JVM's classes: one for each Java and set of jars, used where it is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker.runtime.class_archive import ClassArchive
from broker.runtime.java import Java

pytestmark = pytest.mark.usefixtures("empty_cache")


@pytest.fixture
def jars(tmp_path: Path) -> list[Path]:
    found = [tmp_path / f"{name}.jar" for name in "ab"]
    for path in found:
        path.write_bytes(b"classes")
    return found


def test_other_jars_and_another_java_have_another_one(tmp_path: Path, jars: list[Path]) -> None:
    java = Java(tmp_path, 17, "PATH")
    archive = ClassArchive.of("spark", java, jars)
    assert archive == ClassArchive.of("spark", java, reversed(jars))
    assert archive != ClassArchive.of("spark", java, jars[:1])
    (tmp_path / "release").write_text("17.0.2")
    assert archive != ClassArchive.of("spark", java, jars)
    jars[0].write_bytes(b"other classes")
    assert archive.file.name != ClassArchive.of("spark", java, jars).file.name


def test_it_is_used_once_it_is_whole(tmp_path: Path, jars: list[Path]) -> None:
    archive = ClassArchive.of("spark", Java(tmp_path, 17, "PATH"), jars)
    assert not archive.options
    with archive.recorded() as options:
        part = Path(options[0].removeprefix("-XX:ArchiveClassesAtExit="))
        part.write_bytes(b"archive")
        assert not archive.is_there
    assert archive.options[0] == f"-XX:SharedArchiveFile={archive.file}"
    assert list(archive.file.parent.iterdir()) == [archive.file]


def test_a_jvm_that_writes_none_leaves_nothing(tmp_path: Path, jars: list[Path]) -> None:
    archive = ClassArchive.of("spark", Java(tmp_path, 17, "PATH"), jars)
    with archive.recorded():
        pass
    assert not archive.is_there
    assert list(archive.file.parent.iterdir()) == []
