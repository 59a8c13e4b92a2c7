"""``asc runtime``: what it prints, its exit codes, and jars carried from one cache into another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from broker.runtime.jars import fetch_jars
from broker.runtime.locked_jars import locked_sets
from cli.main import main


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of the jars that whoever runs the tests has."""
    path = tmp_path_factory.mktemp("bundle") / "jars.tar"
    assert run("runtime", "bundle", path).exit_code == 0
    return path


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache, and no network."""
    monkeypatch.setenv("ASC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("ASC_MAVEN_URL", "http://me:secret@127.0.0.1:9/maven")
    return tmp_path / "cache"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_a_bundle_is_loaded_where_there_is_no_network(bundle: Path, closed: Path) -> None:
    loaded = run("runtime", "load", bundle, "--json")
    assert loaded.exit_code == 0
    count = sum(len(jar_set.jars) for jar_set in locked_sets())
    assert f"Loading {count} jars from {bundle} into {closed}/jars ..." in loaded.stderr
    assert json.loads(loaded.stdout) == [
        {
            "set": jar_set.name,
            "artifact": str(jar_set),
            "jars": len(jar_set.jars),
            "size_bytes": jar_set.size_bytes,
            "folder": str(closed / "jars" / jar_set.folder_name),
        }
        for jar_set in locked_sets()
    ]
    for jar_set in locked_sets():
        assert fetch_jars(jar_set, verify=True)[0].is_relative_to(closed)


def test_a_bundle_that_is_there_is_replaced_by_force(bundle: Path) -> None:
    again = run("runtime", "bundle", bundle)
    assert (again.exit_code, again.stdout) == (1, "")
    assert again.stderr == f"error: bundle '{bundle}': exists; name another file, or have it replaced with --force\n"
    forced = run("runtime", "bundle", "--force", bundle)
    assert forced.exit_code == 0
    assert [line.split()[0] for line in forced.stdout.splitlines()] == ["set", "spark-kafka", "kafka-node"]


def test_what_is_no_bundle_is_one_line(closed: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no tar")
    result = run("runtime", "load", tmp_path / "notes.txt")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1].startswith(f"error: bundle '{tmp_path}/notes.txt': is none; ")
    assert [path.name for path in (closed / "jars").iterdir()] == [".lock"]


def test_show_says_what_is_there_and_no_password(bundle: Path, closed: Path) -> None:
    def parts() -> dict[str, dict[str, str]]:
        shown = run("runtime", "show", "--json")
        assert shown.exit_code == 0
        assert "secret" not in shown.output
        return {row["part"]: row for row in json.loads(shown.stdout)}

    before = parts()
    assert before["repository"]["place"] == "http://127.0.0.1:9/maven"
    assert before["cache"]["place"] == str(closed)
    assert before["kafka-node"]["state"].startswith("not there (46 jars, ")
    run("runtime", "load", bundle)
    assert parts()["kafka-node"]["state"].startswith("there (46 jars, ")
    table = run("runtime", "show").stdout.splitlines()
    assert table[0].split() == ["part", "state", "place"]
    assert len(table) == 1 + len(before)


def test_packages_are_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Path(__file__)
    monkeypatch.setattr("broker.runtime.packed.packed_files", lambda: {"asc/one.py": source, "asc/two.py": source})
    path, bytes_ = tmp_path / "packages.tar", 2 * source.stat().st_size
    packed = run("runtime", "pack", path, "--json")
    assert packed.stderr == f"Packing 2 files into {path} ...\n"
    assert json.loads(packed.stdout) == {
        "file": str(path),
        "size_bytes": path.stat().st_size,
        "files": 2,
        "bytes": bytes_,
    }
    again = run("runtime", "pack", path)
    assert again.exit_code == 1
    assert again.stderr == f"error: archive '{path}': exists; name another file, or have it replaced with --force\n"
    assert run("runtime", "pack", "--force", path).stdout == f"{path}: 0 MB, 0 MB unpacked\n"
