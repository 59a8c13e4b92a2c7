"""The version of a source tree, which is defined only in ``pyproject.toml``, and checks of the changelog and the commit
before a release.
"""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.release.errors import ReleaseError


def project(root: Path) -> dict[str, Any]:
    """Return ``pyproject.toml``, parsed."""
    tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    document: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    return document


def version_of(root: Path) -> str:
    """Return the version of a tree."""
    version: str = project(root)["project"]["version"]
    return version


def version_faults(version: str, changelog: str) -> Iterator[ReleaseError]:
    r"""Yield the faults of the changelog that forbid the release of a version.

    >>> [str(fault) for fault in version_faults("0.2.0", "# Changelog\n\n## 0.1.0\n\n- First\n")]
    ["changelog without a section '0.2.0': write what changed under '## 0.2.0'"]
    """
    sections = dict(re.findall(r"^## (\S+)[^\n]*\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL))
    if sections.get("Unreleased", "").strip():
        remedy = f"set the next version in pyproject.toml, now {version}, and name the section after it"
        yield ReleaseError("changelog with a section", "Unreleased", remedy)
    elif version not in sections:
        yield ReleaseError("changelog without a section", version, f"write what changed under '## {version}'")


def tracked_files(root: Path) -> list[str]:
    """Return the files of the tree that are under version control. Raise ReleaseError if git fails."""
    return [name for name in _git(root, "ls-files", "-z").split("\0") if name]


def check_committed(root: Path) -> None:
    """Raise ReleaseError if tracked files differ from the commit."""
    changed = _git(root, "status", "--porcelain", "--untracked-files=no").splitlines()
    if changed:
        raise ReleaseError("tree with changes in", changed[0][3:], "commit them, or put them aside")


def check_tagged(root: Path, version: str) -> None:
    """Raise ReleaseError if the commit does not have the tag of the version. The tag records which commit was
    released.
    """
    tag = f"v{version}"
    if tag not in _git(root, "tag", "--points-at", "HEAD").splitlines():
        raise ReleaseError("commit without the tag", tag, f"git tag -a {tag} -m 'asc {version}'")


def committed_s(root: Path) -> str:
    """Return the time of the commit in seconds since 1970. All archives of the commit have this time."""
    return _git(root, "log", "-1", "--format=%ct").strip()


def _git(root: Path, *arguments: str) -> str:
    try:
        run = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    except OSError as error:
        raise ReleaseError("git", str(root), f"cannot be run: {error.strerror}") from error
    if run.returncode:
        raise ReleaseError("git", str(root), f"says: {run.stderr.strip().splitlines()[-1]}")
    return run.stdout
