"""The two archives of a release: their build, and their required content."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.release.errors import ReleaseError
from tools.release.version import committed_s, project, tracked_files, version_of

_NOT_IN_SOURCE = (".ci/*", ".gitignore", "bench/results/*")
"""Tracked files that the source archive does not contain."""


@dataclass(frozen=True, slots=True)
class Archives:
    """A wheel and a source archive of one version, as paths in a folder."""

    wheel: Path
    source: Path


def build(root: Path, target: Path) -> Archives:
    """Build both archives into a folder, from the tracked files in their present state. The wheel is built from the
    source archive, as a packager would build it.

    Raise ReleaseError if the build fails. The build downloads the build backend, so it needs a network.
    """
    variables = {**os.environ, "SOURCE_DATE_EPOCH": committed_s(root)}
    # Build in a copy of the tracked files: a build in the tree would pack untracked files, and would leave files in the
    # tree.
    with TemporaryDirectory(prefix="asc-build-") as folder:
        copy = Path(folder) / "tree"
        for name in tracked_files(root):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / name, copy / name)
        command = [sys.executable, "-m", "build", "--outdir", str(target), str(copy)]
        run = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    if run.returncode:
        lines = (run.stderr.strip() or run.stdout.strip()).splitlines()
        raise ReleaseError("build of", str(root), f"failed: {lines[-1] if lines else run.returncode}")
    name = f"asc_broker-{version_of(root)}"
    return Archives(target / f"{name}-py3-none-any.whl", target / f"{name}.tar.gz")


def packages(root: Path) -> list[str]:
    """Return the names of the top folders of the packages that are installed."""
    patterns = project(root)["tool"]["setuptools"]["packages"]["find"]["include"]
    return [pattern.removesuffix("*") for pattern in patterns]


def wheel_files(root: Path) -> set[str]:
    """Return the files that a wheel must contain: the modules of its packages, and their declared data files."""
    data: dict[str, list[str]] = project(root)["tool"]["setuptools"]["package-data"]
    wanted = [f"{package}/{pattern}" for package, patterns in data.items() for pattern in patterns]
    tops = tuple(f"{package}/" for package in packages(root))
    return {
        name
        for name in tracked_files(root)
        if name.startswith(tops) and (name.endswith(".py") or any(fnmatch(name, pattern) for pattern in wanted))
    }


def source_files(root: Path) -> set[str]:
    """Return the files that a source archive must contain, so that it can be tested and built again."""
    return {name for name in tracked_files(root) if not any(fnmatch(name, pattern) for pattern in _NOT_IN_SOURCE)}


def faults(root: Path, archives: Archives) -> Iterator[ReleaseError]:
    """Yield the faults of the archives: files that they lack, and files that they contain but the tree does not."""
    with zipfile.ZipFile(archives.wheel) as wheel:
        names = {name for name in wheel.namelist() if not name.endswith("/")}
    own = {name for name in names if ".dist-info/" not in name}
    yield from _differences("wheel", wheel_files(root), own)
    with tarfile.open(archives.source) as source:
        members = [member.name.partition("/")[2] for member in source.getmembers() if member.isfile()]
    made = {name for name in members if ".egg-info/" in name or name in ("PKG-INFO", "setup.cfg")}
    yield from _differences("source archive", source_files(root), set(members) - made)


def sums(files: Iterable[Path]) -> str:
    """Return the SHA-256 of each file, in the form that ``sha256sum --check`` reads."""
    return "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)


def _differences(what: str, wanted: set[str], found: set[str]) -> Iterator[ReleaseError]:
    for name in sorted(wanted - found)[:20]:
        yield ReleaseError(f"{what} without", name, "declare it in pyproject.toml or MANIFEST.in")
    for name in sorted(found - wanted)[:20]:
        yield ReleaseError(f"{what} with", name, "it is not under version control, or does not belong there")
