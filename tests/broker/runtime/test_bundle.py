"""The bundle: from one cache into another without a network, and nothing but the locked jars."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from broker.errors import RuntimeMissingError
from broker.runtime.bundle import load_bundle, write_bundle
from broker.runtime.jars import fetch_jars, is_complete
from broker.runtime.locked_jars import locked_sets

COUNT = sum(len(jar_set.jars) for jar_set in locked_sets())


@pytest.fixture(scope="module")
def bundle(locked_files: Mapping[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of the jars that whoever runs the tests has."""
    path = tmp_path_factory.mktemp("bundle") / "jars.tar"
    write_bundle(path)
    return path


@pytest.fixture
def closed(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no network. The folder of jars in it."""
    monkeypatch.setenv("ASC_MAVEN_URL", "http://127.0.0.1:9")
    return empty_cache / "jars"


def _refused(path: Path, folder: Path) -> str:
    """What is said of a bundle that is not loaded: one line, and nothing of it is left."""
    with pytest.raises(RuntimeMissingError) as raised:
        load_bundle(path)
    said = str(raised.value)
    assert said.startswith(f"bundle '{path}': ")
    assert "\n" not in said
    assert [entry.name for entry in folder.glob("*") if entry.name != ".lock"] == []
    return said


def _changed(
    bundle: Path, target: Path, change: Callable[[tarfile.TarInfo, bytes], tuple[tarfile.TarInfo, bytes]]
) -> Path:
    with tarfile.open(bundle) as old, tarfile.open(target, "w") as new:
        for entry in old:
            file = old.extractfile(entry)
            assert file is not None
            altered, content = change(entry, file.read())
            altered.size = len(content)
            new.addfile(altered, io.BytesIO(content))
    return target


def test_it_fills_an_empty_cache_without_a_network(bundle: Path, closed: Path) -> None:
    said: list[str] = []
    sets = load_bundle(bundle, said.append)
    assert said[0] == f"Loading {COUNT} jars from {bundle} into {closed} ..."
    assert said[-1].startswith(f"   {COUNT}/{COUNT} ")
    for jar_set in sets:
        assert is_complete(jar_set)
        # By their bytes: nothing is fetched, for nothing can be.
        assert len(fetch_jars(jar_set, verify=True)) == len(jar_set.jars)
    assert sorted(entry.name for entry in closed.iterdir()) == [".lock", *sorted(s.folder_name for s in sets)]
    # Over what is there it is as good.
    assert load_bundle(bundle) == sets


def test_equal_jars_make_equal_bundles(bundle: Path, closed: Path, tmp_path: Path) -> None:
    load_bundle(bundle)
    write_bundle(tmp_path / "again.tar")
    assert (tmp_path / "again.tar").read_bytes() == bundle.read_bytes()


def test_a_file_is_replaced_only_where_it_is_wanted(bundle: Path, tmp_path: Path) -> None:
    path = tmp_path / "jars.tar"
    path.write_text("mine")
    with pytest.raises(RuntimeMissingError, match="exists; name another file, or have it replaced with --force"):
        write_bundle(path)
    assert path.read_text() == "mine"
    write_bundle(path, replace=True)
    assert path.read_bytes() == bundle.read_bytes()
    assert [entry.name for entry in tmp_path.iterdir()] == ["jars.tar"]


@pytest.mark.usefixtures("locked_files")
def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "nowhere" / "jars.tar", tmp_path / "file" / "jars.tar"):
        with pytest.raises(RuntimeMissingError, match=r"jars\.tar': cannot be written"):
            write_bundle(path)
    with pytest.raises(RuntimeMissingError, match="is a folder; name a file"):
        write_bundle(tmp_path)


def test_what_is_missing_and_cannot_be_fetched_makes_no_bundle(closed: Path, tmp_path: Path) -> None:
    with pytest.raises(RuntimeMissingError, match="Connection refused"):
        write_bundle(tmp_path / "jars.tar")
    assert not (tmp_path / "jars.tar").exists()


@pytest.mark.parametrize("kept", [0.3, 0.9, 0.999])
def test_one_that_is_cut_short(bundle: Path, closed: Path, tmp_path: Path, kept: float) -> None:
    whole = bundle.read_bytes()
    (tmp_path / "cut.tar").write_bytes(whole[: int(len(whole) * kept)])
    assert f"of {COUNT} jars are not whole in it; copy it again" in _refused(tmp_path / "cut.tar", closed)


def test_one_that_ends_within_its_first_jar(bundle: Path, closed: Path, tmp_path: Path) -> None:
    with tarfile.open(bundle) as archive:
        first = archive.getmembers()[0]
    (tmp_path / "cut.tar").write_bytes(bundle.read_bytes()[: first.offset_data + first.size // 2])
    assert f"is cut short: {COUNT} of {COUNT} jars" in _refused(tmp_path / "cut.tar", closed)


def test_one_that_ends_within_its_last_jar(bundle: Path, closed: Path, tmp_path: Path) -> None:
    with tarfile.open(bundle) as archive:
        last = archive.getmembers()[-1]
    (tmp_path / "cut.tar").write_bytes(bundle.read_bytes()[: last.offset_data + last.size // 2])
    assert f"is cut short: 1 of {COUNT} jars" in _refused(tmp_path / "cut.tar", closed)


def test_one_without_its_last_jars(bundle: Path, closed: Path, tmp_path: Path) -> None:
    with tarfile.open(bundle) as archive:
        second = archive.getmembers()[1]
    (tmp_path / "cut.tar").write_bytes(bundle.read_bytes()[: second.offset] + bytes(1024))
    assert f"is cut short: {COUNT - 1} of {COUNT} jars" in _refused(tmp_path / "cut.tar", closed)


@pytest.mark.parametrize("content", [b"", b"x" * 5000, b"PK\x03\x04" + bytes(3000)])
def test_one_that_is_none(closed: Path, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "none").write_bytes(content)
    assert "is none; name a file that 'asc runtime bundle' wrote" in _refused(tmp_path / "none", closed)


def test_one_that_cannot_be_read(closed: Path, tmp_path: Path) -> None:
    assert "No such file" in _refused(tmp_path / "nowhere", closed)
    assert "Is a directory" in _refused(tmp_path, closed)


def test_one_whose_disk_fails(closed: Path) -> None:
    """The memory of a process is a file that opens, and whose first byte is an error of input."""
    assert "cannot be read to its end (Input/output error); copy it again" in _refused(Path("/proc/self/mem"), closed)


def test_one_of_another_lock(bundle: Path, closed: Path, tmp_path: Path) -> None:
    def older(entry: tarfile.TarInfo, content: bytes) -> tuple[tarfile.TarInfo, bytes]:
        entry.name = entry.name.replace("kafka-node-", "kafka-node-0.").replace("4.0.0-", "4.0.0-0123")[:-4] + ".jar"
        folder, digest = entry.name.split("/")[1].rsplit("-", 1)
        entry.name = f"jars/{folder}-{digest[:12]}/{entry.name.split('/')[2]}"
        return entry, content

    path = _changed(bundle, tmp_path / "older.tar", older)
    assert "has the jars of another version of asc-broker" in _refused(path, closed)


@pytest.mark.parametrize("longer", [0, 1])
def test_one_with_a_spoilt_jar(bundle: Path, closed: Path, tmp_path: Path, longer: int) -> None:
    def spoilt(entry: tarfile.TarInfo, content: bytes) -> tuple[tarfile.TarInfo, bytes]:
        return entry, b"x" * (len(content) + longer) if "kafka_2.13" in entry.name else content

    path = _changed(bundle, tmp_path / "spoilt.tar", spoilt)
    assert "holds another kafka_2.13-" in _refused(path, closed)


@pytest.mark.parametrize("name", ["../outside.jar", "/tmp/outside.jar", "jars/../../outside.jar", "jars", "a\nb"])
def test_a_member_that_is_no_jar_of_the_lock(bundle: Path, closed: Path, tmp_path: Path, name: str) -> None:
    with tarfile.open(tmp_path / "evil.tar", "w") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = 3
        archive.addfile(entry, io.BytesIO(b"abc"))
    said = _refused(tmp_path / "evil.tar", closed)
    assert "which is no locked jar" in said
    assert not list(tmp_path.rglob("outside.jar"))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE])
def test_a_locked_name_that_is_no_file(closed: Path, tmp_path: Path, kind: bytes) -> None:
    jar_set = locked_sets()[0]
    entry = tarfile.TarInfo(f"jars/{jar_set.folder_name}/{jar_set.jars[0].file_name}")
    entry.type = kind
    entry.linkname = "/etc/passwd"
    with tarfile.open(tmp_path / "evil.tar", "w") as archive:
        archive.addfile(entry)
    assert "which is no locked jar" in _refused(tmp_path / "evil.tar", closed)


def test_a_jar_that_comes_twice(bundle: Path, closed: Path, tmp_path: Path) -> None:
    path = tmp_path / "twice.tar"
    path.write_bytes(bundle.read_bytes())
    with tarfile.open(bundle) as archive, tarfile.open(path, "a") as longer:
        first = archive.getmembers()[0]
        longer.addfile(first, archive.extractfile(first))
    assert "which is no locked jar" in _refused(path, closed)
