"""Packages of other projects that have a name of ours: each is named in one line, wherever Python finds it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from broker.packages import (
    LIBRARY_PACKAGES,
    PACKAGES,
    WORKER_PACKAGES,
    ForeignPackageError,
    library_packages,
    package_place,
)
from tools.release.version import project

ROOT = Path(__file__).parents[2]
REMEDY = "install asc-broker into an environment of its own, or rename that"
MATCH = """
import sys
sys.path[:] = [place for place in sys.path if place not in ("", {cwd!r})]
import broker
from broker.runtime.spark import spark_session
spark = spark_session(master="local[1]", connector=False)
rows = broker.match(spark.range(3), {{"late": "id > 1"}}).collect()
print([(row.id, row.queries) for row in rows])
"""


def foreign(folder: Path, name: str) -> Path:
    """Make a package of another project."""
    package = folder / name
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("'''Of another project.'''\n", "utf-8")
    return package


def ran(program: str, cwd: Path, *places: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program as a user does: with the working folder before everything else on its path."""
    # Spark has some in this process where another test started it, and workers are known by them.
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH" and not name.startswith("SPARK_")}
    path = {"PYTHONPATH": os.pathsep.join(map(str, places))} if places else {}
    command = [sys.executable, "-c", program]
    return subprocess.run(
        command, cwd=cwd, env={**own, **path, **variables}, capture_output=True, text=True, timeout=200, check=False
    )


def last_line(ended: subprocess.CompletedProcess[str]) -> str:
    assert ended.returncode == 1, ended.stdout + ended.stderr
    return ended.stderr.splitlines()[-1]


@pytest.mark.parametrize("name", ["asc", "monitor"])
def test_a_package_in_the_working_folder_is_named(name: str, tmp_path: Path) -> None:
    package = foreign(tmp_path, name)
    said = f"package '{name}': {package} is not asc-broker's, which is in {ROOT}; {REMEDY} folder"
    assert last_line(ran("import broker", tmp_path, ROOT)) == f"broker.packages.ForeignPackageError: {said}"
    assert ran("try: import broker\nexcept ImportError as error: print(error.name, error.path)", tmp_path).stdout == (
        f"{name} {package}\n"
    )


def test_so_is_a_module_and_one_that_is_imported_already(tmp_path: Path) -> None:
    module = tmp_path / "monitor.py"
    module.write_text("", "utf-8")
    assert f"{module} is not asc-broker's" in last_line(ran("import broker", tmp_path))
    assert last_line(ran("import broker", tmp_path)).endswith("rename that file")
    program = "import monitor, sys; sys.path.remove(''); import broker"
    assert f"{module} is not asc-broker's" in last_line(ran(program, tmp_path))


def test_one_of_another_distribution_is_named(tmp_path: Path) -> None:
    package = foreign(tmp_path / "site-packages", "monitor")
    (tmp_path / "empty").mkdir()
    assert f"package 'monitor': {package} is not" in last_line(
        ran("import broker", tmp_path / "empty", package.parent, ROOT)
    )


def test_what_shadows_nothing_is_no_fault(tmp_path: Path) -> None:
    # A folder without __init__.py comes behind every package, and the library imports none of the command's.
    (tmp_path / "monitor").mkdir()
    foreign(tmp_path, "cli")
    foreign(tmp_path, "bench")
    ended = ran("import broker; print(broker.__all__ != [])", tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "True\n", "")


def test_a_link_to_the_same_folder_is_the_same_package(tmp_path: Path) -> None:
    (tmp_path / "monitor").symlink_to(ROOT / "monitor")
    program = "import monitor, sys; sys.path.remove(''); import broker; print(monitor.__file__)"
    assert ran(program, tmp_path).stdout == f"{tmp_path}/monitor/__init__.py\n"


def test_an_archive_without_the_command_is_whole(tmp_path: Path) -> None:
    unpacked = tmp_path / "asc-packages"
    for name in LIBRARY_PACKAGES:
        (unpacked / name).parent.mkdir(exist_ok=True)
        (unpacked / name).symlink_to(ROOT / name)
    foreign(tmp_path / "host", "cli")
    program = (
        "from broker.packages import PACKAGES, check_packages as check; check(PACKAGES, {folder!r}); print('whole')"
    )
    said = ran(program.format(folder=str(unpacked)), tmp_path, unpacked, tmp_path / "host")
    assert said.stdout == "whole\n", said.stderr


def test_packages_are_found_in_a_zip(tmp_path: Path) -> None:
    archive = tmp_path / "packages.zip"
    with zipfile.ZipFile(archive, "w") as out:
        for name in LIBRARY_PACKAGES:
            for file in (ROOT / name).rglob("*.py"):
                out.write(file, file.relative_to(ROOT))
    program = "import broker; print(broker.__file__)"
    (tmp_path / "work").mkdir()
    assert ran(program, tmp_path / "work", archive).stdout == f"{archive}/broker/__init__.py\n"
    package = foreign(tmp_path / "work", "monitor")
    assert f"{package} is not asc-broker's, which is in {archive}; " in last_line(
        ran(program, tmp_path / "work", archive)
    )


def test_a_worker_of_spark_needs_fewer() -> None:
    assert library_packages({}) == LIBRARY_PACKAGES
    assert library_packages({"SPARK_BUFFER_SIZE": "65536"}) == WORKER_PACKAGES


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.slow
def test_workers_match_where_the_working_folder_has_a_monitor(tmp_path: Path) -> None:
    foreign(tmp_path, "monitor")
    foreign(tmp_path, "cli")
    ended = ran(MATCH.format(cwd=str(tmp_path)), tmp_path)
    assert ended.stdout == "[(2, ['late'])]\n", ended.stderr


@pytest.mark.spark
@pytest.mark.slow
def test_workers_name_another_asc_in_the_working_folder(tmp_path: Path) -> None:
    package = foreign(tmp_path, "asc")
    ended = ran(MATCH.format(cwd=str(tmp_path)), tmp_path)
    assert ended.returncode == 1
    assert f"ForeignPackageError: package 'asc': {package} is not asc-broker's, which is in {ROOT}; " in ended.stderr


def test_the_check_imports_nothing() -> None:
    program = (
        "import sys; import broker.packages as p; before = set(sys.modules);"
        "p.check_packages(p.PACKAGES); print(sorted(set(sys.modules) - before))"
    )
    assert ran(program, ROOT).stdout == "[]\n"


def test_a_package_that_is_nowhere_has_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    assert package_place("asc") == str(ROOT / "asc")
    assert package_place("no_such_package") == ""
    made = type(sys)("made_in_memory")
    made.__spec__ = None
    monkeypatch.setitem(sys.modules, "made_in_memory", made)
    assert package_place("made_in_memory") == ""


def test_the_error_has_subject_value_and_remedy() -> None:
    error = ForeignPackageError("monitor", "/x/monitor", "/site")
    assert (error.subject, error.value, str(error)) == ("package", "monitor", f"package 'monitor': {error.remedy}")


def names_of(values: Sequence[str]) -> list[str]:
    return [value.removesuffix("*") for value in values]


def test_files_that_cannot_import_the_list_agree_with_it() -> None:
    document = project(ROOT)
    tool, checked = document["tool"], {*PACKAGES, "tools"}
    assert set(names_of(tool["setuptools"]["packages"]["find"]["include"])) == set(PACKAGES)
    assert set(tool["setuptools"]["package-data"]) == set(PACKAGES)
    assert set(tool["ruff"]["lint"]["isort"]["known-first-party"]) == checked
    assert set(tool["mypy"]["packages"]) == checked
    assert set(tool["importlinter"]["root_packages"]) == checked
    assert set(tool["pytest"]["ini_options"]["testpaths"]) == checked | {"tests"}
    sources = {one["name"]: one.get("source_modules") for one in tool["importlinter"]["contracts"]}
    assert set(sources["nothing imports tools"]) == set(PACKAGES)
    grafted = set(re.findall(r"^graft (\S+)$", (ROOT / "MANIFEST.in").read_text("utf-8"), re.MULTILINE))
    assert grafted == checked | {"tests", "docs", "deploy"}
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert folders == checked
