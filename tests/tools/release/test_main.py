"""``python -m tools.release``."""

from __future__ import annotations

from pathlib import Path

import pytest

import tools.release.__main__ as command
from tools.release.archives import Archives
from tools.release.errors import ReleaseError


@pytest.fixture
def archives(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Archives:
    """Two files in place of what is built: the build is tried with the archives."""
    made = Archives(tmp_path / "x.whl", tmp_path / "x.tar.gz")
    made.wheel.write_bytes(b"wheel")
    made.source.write_bytes(b"source")
    monkeypatch.setattr(command, "build", lambda root, target: made)
    monkeypatch.setattr(command, "faults", lambda root, built: iter(()))
    return made


def test_what_is_no_release_yet_is_refused_and_built_when_asked(
    archives: Archives, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    faults = [ReleaseError("changelog with a section", "Unreleased", "name it")]
    monkeypatch.setattr(command, "version_faults", lambda version, changelog: iter(faults))
    monkeypatch.setattr(command, "check_committed", lambda root: None)

    def untagged(root: Path, version: str) -> None:
        raise ReleaseError("commit without the tag", "v0.1.0", "give it one")

    monkeypatch.setattr(command, "check_tagged", untagged)
    out = ["--out", str(tmp_path), "--archives-alone"]
    assert command.main(out) == 1
    assert capsys.readouterr().err.splitlines() == [
        "error: changelog with a section 'Unreleased': name it",
        "error: commit without the tag 'v0.1.0': give it one",
    ]
    assert not (tmp_path / "SHA256SUMS").exists()
    assert command.main([*out, "--unreleased"]) == 0
    assert "not installed" in capsys.readouterr().out
    assert (tmp_path / "SHA256SUMS").read_text("utf-8").count("\n") == 2


def test_archives_with_faults_are_no_release(
    archives: Archives, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lacking = ReleaseError("wheel without", "asc/py.typed", "declare it")
    monkeypatch.setattr(command, "faults", lambda root, built: iter([lacking]))
    assert command.main(["--out", str(tmp_path), "--unreleased"]) == 1
    assert "wheel without 'asc/py.typed'" in capsys.readouterr().err
    assert not (tmp_path / "SHA256SUMS").exists()


def test_wrong_use() -> None:
    with pytest.raises(SystemExit) as caught:
        command.main(["--nonsense"])
    assert caught.value.code == 2
