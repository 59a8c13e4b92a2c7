"""The wheel, installed where nothing else of the project is: whole, and enough for ``asc demo``."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import broker
from broker.packages import PACKAGES
from cli.demo.run import report_text

ROOT = Path(broker.__file__).parents[1]

pytestmark = [pytest.mark.nightly, pytest.mark.slow, pytest.mark.spark, pytest.mark.kafka, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, for setuptools leaves its work in the tree. Fetches setuptools, as every build does."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in PACKAGES:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    _run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", target, source, cwd=source)
    (built,) = target.glob("asc_broker-*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment of the wheel and the packages that it asks for, and of nothing else.

    The packages are linked from the running environment: to fetch 600 MB anew would show no more.
    """
    folder = tmp_path_factory.mktemp("environment")
    _run(sys.executable, "-m", "venv", folder, cwd=folder)
    python = folder / "bin" / "python"
    _run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=folder)
    (packages,) = folder.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        wanted = re.findall(r"^Requires-Dist: (.+)$", archive.read(metadata).decode(), re.MULTILINE)
    for needed in _closure(wanted).values():
        for name in {file.parts[0] for file in needed.files or () if file.parts[0] not in ("..", "__pycache__")}:
            if not (packages / name).exists():
                (packages / name).symlink_to(str(needed.locate_file(name)))
    return folder


def _closure(wanted: Iterable[str], extras: Iterable[str] = ()) -> dict[str, Distribution]:
    """What requirements ask for, and what that asks for; all of it is installed here, in the versions asked for."""
    found: dict[str, Distribution] = {}
    for text in wanted:
        requirement = Requirement(text)
        if requirement.marker and not any(requirement.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            continue
        needed = distribution(requirement.name)
        assert requirement.specifier.contains(needed.version, prereleases=True), (text, needed.version)
        found[needed.name] = needed
        found |= _closure(needed.requires or (), requirement.extras)
    return found


def _run(*command: object, cwd: Path) -> str:
    """What a command prints, run without the variables that would show it the checkout."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    variables["ASC_TOKEN"] = "of-another-daemon"
    run = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=variables, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def test_it_holds_every_package_and_what_they_read(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    modules = {path.relative_to(ROOT).as_posix() for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
    assert modules <= names
    data = {path.relative_to(ROOT).as_posix() for path in (ROOT / "workloads" / "data").iterdir() if path.is_file()}
    assert data
    assert {"asc/py.typed", "broker/runtime/jars.lock", *data} <= names
    assert not any(name.startswith(("tests/", "tools/")) for name in names)


def test_the_demo_runs_outside_the_checkout(environment: Path, tmp_path: Path) -> None:
    code = f"import importlib; print(*(importlib.import_module(name).__file__ for name in {PACKAGES}), sep='\\n')"
    places = [Path(line) for line in _run(environment / "bin" / "python", "-c", code, cwd=tmp_path).splitlines()]
    assert len(places) == len(PACKAGES)
    assert all(place.is_relative_to(environment) for place in places), places
    report = json.loads(_run(environment / "bin" / "asc", "demo", "--json", cwd=tmp_path))
    assert report["agrees"]
    assert len(report["topics"]) >= 12
    assert all(topic["received"] == topic["expected"] > 0 for topic in report["topics"])
    assert report["shown"]["records"]
    assert report["shown"]["explanation"]
    assert report["first"]["records"] == 20_000
    measured = report["throughput"]
    assert measured["agrees"]
    assert measured["deliveries"] * 20_000 == report["first"]["deliveries"] * measured["records"]
    said = f"{measured['records']:,} records and {measured['deliveries']:,} deliveries in "
    assert said in report_text(report)
    assert list(tmp_path.iterdir()) == []
