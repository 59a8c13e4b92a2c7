"""Which version a tree is, and whether its changelog and its files go with it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import tools
from broker.packages import PACKAGES
from tools.release.errors import ReleaseError
from tools.release.version import check_committed, check_tagged, committed_s, tracked_files, version_faults, version_of

ROOT = Path(tools.__file__).parents[1]


def test_one_place_says_the_version() -> None:
    version = version_of(ROOT)
    assert version.count(".") == 2
    sources = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    assert sources
    assert not [path for path in sources if f'"{version}"' in path.read_text("utf-8")]


@pytest.mark.parametrize(
    ("changelog", "said"),
    [
        ("# Changelog\n\n## 0.2.0\n\n- More\n\n## 0.1.0\n", None),
        ("# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2030-01-31\n\n- More\n", None),
        ("# Changelog\n\n## Unreleased\n\n- More\n\n## 0.2.0\n", "set the next version in pyproject.toml, now 0.2.0"),
        ("# Changelog\n\n## 0.1.0\n", "without a section '0.2.0'"),
    ],
    ids=["ready", "empty", "unreleased", "missing"],
)
def test_the_changelog_goes_with_it(changelog: str, said: str | None) -> None:
    found = [str(fault) for fault in version_faults("0.2.0", changelog)]
    if said is None:
        assert found == []
    else:
        assert [said in fault for fault in found] == [True]


def test_what_is_not_committed_is_named(tmp_path: Path) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    (tmp_path / "a").write_text("1", encoding="utf-8")
    for command in (["init", "-q"], ["add", "a"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True, env=clean)
    (tmp_path / "other").write_text("not tracked", encoding="utf-8")
    check_committed(tmp_path)
    assert tracked_files(tmp_path) == ["a"]
    assert int(committed_s(tmp_path)) > 1_700_000_000
    subprocess.run(["git", "tag", "v0.1.9"], cwd=tmp_path, check=True, env=clean)
    with pytest.raises(ReleaseError, match=r"commit without the tag 'v0\.1\.10': git tag -a v0\.1\.10"):
        check_tagged(tmp_path, "0.1.10")
    check_tagged(tmp_path, "0.1.9")
    (tmp_path / "a").write_text("2", encoding="utf-8")
    with pytest.raises(ReleaseError, match="tree with changes in 'a': commit them"):
        check_committed(tmp_path)


def test_a_folder_that_is_no_tree(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match=r"git .* says: "):
        tracked_files(tmp_path)
