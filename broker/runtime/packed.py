"""Archive of all packages that a cluster's Python workers need. Spark unpacks it for each executor.

The archive contains no interpreter: each host provides an interpreter of the same minor version as the driver's.
"""

from __future__ import annotations

import gzip
import re
import sys
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from importlib.machinery import PathFinder
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from broker.errors import RuntimeMissingError
from broker.packages import LIBRARY_PACKAGES
from broker.runtime.progress import Progress
from broker.unfinished_file import unfinished

UNPACKED = "asc-packages"
"""The folder into which Spark unpacks the archive, inside the working folder of each executor."""

SUFFIXES = (".tar", ".tar.gz", ".tgz")
"""Suffixes of archives that Spark unpacks."""

_NEEDED = ("bitarray", "numba", "numpy", "pandas", "pyarrow", "pyspark", "scipy", "shapely", "sqlglot")
"""Packages that the workers import, besides their dependencies. Only the driver needs the API, Kafka's client and
Java.
"""

_OPTIONAL = ("datasketches",)
"""Packages of extras that the workers import, as far as they are installed."""

_EXCLUDED = frozenset(["tests", "include", "jars"])
"""The names of folders that the archive excludes, because no worker reads them. They have half of all bytes. Among them
are Spark's jars, of which the cluster has its own.
"""

_COMPRESSION = 1
"""The compression level. Higher levels take twice as long, and make the archive only a few per cent smaller."""


@dataclass(frozen=True, slots=True)
class Packed:
    """The number of files in an archive, and their total bytes when unpacked."""

    files: int
    bytes: int


def packed_properties(archive: str) -> dict[str, str]:
    """Return the Spark properties by which executors unpack the archive and their Python workers import from it."""
    return {"spark.archives": f"{archive}#{UNPACKED}", "spark.executorEnv.PYTHONPATH": UNPACKED}


def packed_interpreter() -> str:
    """Return the command of the Python interpreter that can import the archive's packages on a host of the cluster.

    The host finds the command on its path. The command names the minor version of this interpreter, for example
    ``python3.12``.
    """
    return f"python{sys.version_info.major}.{sys.version_info.minor}"


def write_packed(path: Path, progress: Progress = lambda line: None, *, replace: bool = False) -> Packed:
    """Write the archive from the installed packages, and return its size.

    The archive includes the code that numba has compiled on this machine, which hosts with the same kind of processor
    can use. The file is written under a temporary name and then renamed. An existing file is replaced only if
    ``replace`` is true. Raise RuntimeMissingError if the file exists, has a suffix other than SUFFIXES or cannot be
    written, or if a package is missing.
    """
    if not path.name.endswith(SUFFIXES):
        raise RuntimeMissingError("archive", str(path), f"is none that Spark unpacks; end it in {', '.join(SUFFIXES)}")
    if path.exists() and not replace:
        raise RuntimeMissingError("archive", str(path), "exists; name another file, or have it replaced with --force")
    part = unfinished(path)
    try:
        with part.open("wb") as out:
            files = packed_files()
            progress(f"Packing {len(files)} files into {path} ...")
            _write(files, out, is_compressed=not path.name.endswith(".tar"))
        part.replace(path)
        return Packed(len(files), sum(file.stat().st_size for file in files.values()))
    except OSError as error:
        remedy = f"cannot be written ({error.strerror}); name a file in a folder that can, with room for it"
        raise RuntimeMissingError("archive", str(path), remedy) from error
    finally:
        with suppress(OSError):
            part.unlink()


def packed_files() -> dict[str, Path]:
    """Return the members of an archive, each with its source file. Raise RuntimeMissingError if a package is
    missing.
    """
    return dict(sorted({**_own_files(), **_needed_files()}.items()))


def _write(files: Mapping[str, Path], out: BinaryIO, *, is_compressed: bool) -> None:
    with ExitStack() as opened:
        stream: Any = out
        if is_compressed:
            stream = opened.enter_context(gzip.GzipFile("", "wb", _COMPRESSION, out, mtime=0))
        # The PAX format stores fractions of a second. numba compares the source's time with that of its compiled file.
        archive = opened.enter_context(tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT))
        for member, file in files.items():
            archive.add(file, member, recursive=False, filter=_of_nobody)


def _of_nobody(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def _own_files() -> dict[str, Path]:
    """Return the files of our own packages, wherever they are: an editable install does not list them."""
    files = {}
    for package in LIBRARY_PACKAGES:
        spec = PathFinder.find_spec(package)
        folder = (
            Path(__file__).parents[2] / package if spec is None or spec.origin is None else Path(spec.origin).parent
        )
        for file in folder.rglob("*"):
            if file.is_file():
                files[f"{package}/{file.relative_to(folder).as_posix()}"] = file
    return files


def _needed_files() -> dict[str, Path]:
    files = {}
    for one in _closure((*_NEEDED, *_OPTIONAL)):
        for file in one.files or ():
            place = Path(str(one.locate_file(file)))
            if _is_read(one.name, file) and place.is_file():
                files[file.as_posix()] = place
    return files


def _is_read(name: str, file: PurePosixPath) -> bool:
    if file.parts[0] == ".." or _EXCLUDED & set(file.parts):
        return False
    # Of PySpark, only the modules: the cluster has Spark's scripts, examples and jars.
    return name != "pyspark" or file.suffix in (".py", ".pyc", ".json")


def _closure(names: tuple[str, ...]) -> Iterator[Distribution]:
    """Yield the installed packages ``names`` and all packages that they require, each once. Raise RuntimeMissingError
    if one of ``names`` is missing, unless it is optional.
    """
    waiting, seen = list(names), set()
    while waiting:
        name = waiting.pop()
        if name.lower() in seen:
            continue
        seen.add(name.lower())
        try:
            package = distribution(name)
        except PackageNotFoundError:
            if name in names and name not in _OPTIONAL:
                raise RuntimeMissingError("package", name, "is not installed; install asc-broker anew") from None
            continue  # for another system or version of Python
        yield package
        for requirement in package.requires or ():
            required = re.match(r"[\w.-]+", requirement)
            if required is not None and "extra ==" not in requirement:
                waiting.append(required.group())
