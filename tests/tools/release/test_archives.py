"""Wheel and source archive: built from the tree, and whole."""

from __future__ import annotations

import os
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

import tools
from tools.release.archives import Archives, build, faults, packages, source_files, sums, wheel_files
from tools.release.errors import ReleaseError
from tools.release.version import version_of

ROOT = Path(tools.__file__).parents[1]

pytestmark = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="what is tracked is known to git alone")


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Archives:
    return build(ROOT, tmp_path_factory.mktemp("archives"))


@pytest.mark.nightly
def test_both_are_whole(archives: Archives) -> None:
    assert list(faults(ROOT, archives)) == []


@pytest.mark.nightly
def test_the_wheel_says_what_it_is(archives: Archives) -> None:
    with zipfile.ZipFile(archives.wheel) as wheel:
        names = set(wheel.namelist())
        (metadata,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        text = wheel.read(metadata).decode()
    assert f"\nVersion: {version_of(ROOT)}\n" in text
    assert "\nLicense-Expression: Apache-2.0\n" in text
    assert {f"{package}/py.typed" for package in packages(ROOT)} <= names
    assert {"broker/runtime/jars.lock", "workloads/data/flights.csv.gz"} <= names
    assert not any(name.startswith(("tests/", "tools/", "bench/results/")) for name in names)


@pytest.mark.nightly
def test_the_source_archive_has_what_a_build_and_the_tests_need(archives: Archives) -> None:
    with tarfile.open(archives.source) as source:
        names = {name.partition("/")[2] for name in source.getnames()}
    assert {
        "Makefile",
        "requirements.lock",
        "docs/library.md",
        "tests/conftest.py",
        "tools/release/__main__.py",
    } <= names
    assert not any(name.startswith(("bench/results/", ".ci/")) for name in names)


@pytest.mark.nightly
def test_what_is_missing_or_too_much_is_named(archives: Archives, tmp_path: Path) -> None:
    spoilt = Archives(tmp_path / "x.whl", archives.source)
    with zipfile.ZipFile(archives.wheel) as whole, zipfile.ZipFile(spoilt.wheel, "w") as less:
        for name in whole.namelist():
            if name != "broker/runtime/jars.lock":
                less.writestr(name, whole.read(name))
        less.writestr("tests/test_x.py", "")
    assert [str(fault) for fault in faults(ROOT, spoilt)] == [
        "wheel without 'broker/runtime/jars.lock': declare it in pyproject.toml or MANIFEST.in",
        "wheel with 'tests/test_x.py': it is not under version control, or does not belong there",
    ]


def test_what_has_to_be_in_them() -> None:
    wheel, source = wheel_files(ROOT), source_files(ROOT)
    assert wheel < source
    assert "asc/matcher.py" in wheel
    assert "README.md" in source - wheel


def test_sums_are_those_that_sha256sum_checks(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"content")
    (tmp_path / "SHA256SUMS").write_text(sums([tmp_path / "a"]), encoding="utf-8")
    check = ["sha256sum", "--check", "SHA256SUMS"]
    assert subprocess.run(check, cwd=tmp_path, check=True, capture_output=True, text=True).stdout == "a: OK\n"


@pytest.mark.nightly
def test_a_build_that_fails_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "asc-broker"\n', encoding="utf-8")
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True, env=clean)
    with pytest.raises(ReleaseError, match="failed: ") as caught:
        build(tmp_path, tmp_path / "dist")
    assert "\n" not in str(caught.value)
