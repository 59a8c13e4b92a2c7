"""A bundle: all locked jars in one tar file, for the installation on a machine without a network.

The members of the tar file have the names of the files in the cache, where the name of a folder is derived from its
content. Only ``jars.lock`` decides which jars are loaded, whatever a bundle contains.
"""

from __future__ import annotations

import hashlib
import re
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BufferedReader, FileIO
from pathlib import Path
from typing import IO, TYPE_CHECKING

from broker.errors import RuntimeMissingError
from broker.runtime.cache import folder_lock, written
from broker.runtime.jars import fetch_jars, jars_folder, move_in, staging_folder
from broker.runtime.locked_jars import Jar, JarSet, locked_sets
from broker.runtime.progress import Progress, Transfer
from broker.unfinished_file import unfinished

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_CHUNK_BYTES = 1 << 20
_OF_ANOTHER_LOCK = re.compile(r"jars/[\w.-]+-[0-9a-f]{12}/[\w.-]+\.jar")
_MADE_BY = "'asc runtime bundle'"
_ANEW = f"or write it anew with {_MADE_BY}"

_Place = tuple[JarSet, Jar]


def write_bundle(path: Path, progress: Progress = lambda line: None, *, replace: bool = False) -> tuple[JarSet, ...]:
    """Write the bundle, and return the jar sets in it. Jars that the cache lacks are fetched first.

    Equal jars produce equal bundles, byte for byte. The file is written under a temporary name and then renamed. An
    existing file is replaced only if ``replace`` is true. Raise RuntimeMissingError if the file exists or cannot be
    written, or if the jars cannot be fetched.
    """
    if path.is_dir():
        raise RuntimeMissingError("bundle", str(path), "is a folder; name a file")
    if path.exists() and not replace:
        raise RuntimeMissingError("bundle", str(path), "exists; name another file, or have it replaced with --force")
    sets = locked_sets()
    # Compare the bytes: the other machine would refuse a bundle with a damaged jar.
    files = {
        _member(jar_set, jar): file
        for jar_set in sets
        for jar, file in zip(jar_set.jars, fetch_jars(jar_set, progress, verify=True), strict=True)
    }
    part = unfinished(path)
    progress(f"Writing {len(files)} jars into {path} ...")
    try:
        with (
            Transfer("bundle", len(files), sum(jar_set.size_bytes for jar_set in sets), progress) as transfer,
            tarfile.open(part, "w", format=tarfile.USTAR_FORMAT) as archive,
        ):
            for name, file in files.items():
                _append(archive, name, file, transfer)
        part.replace(path)
    except OSError as error:
        remedy = f"cannot be written ({error.strerror}); name a file in a folder that can, with room for it"
        raise RuntimeMissingError("bundle", str(path), remedy) from error
    finally:
        with suppress(OSError):
            part.unlink()
    return sets


def load_bundle(path: Path, progress: Progress = lambda line: None) -> tuple[JarSet, ...]:
    """Copy a bundle's jars into the cache, and return the jar sets in the cache. Copy none if a jar is missing or
    differs from the lock.

    Needs no network. Raise RuntimeMissingError if the file cannot be read, is incomplete or belongs to another lock, or
    if the cache cannot be written.
    """
    sets = locked_sets()
    wanted = {_member(jar_set, jar): (jar_set, jar) for jar_set in sets for jar in jar_set.jars}
    folder = jars_folder()
    with _opened(path) as file, folder_lock(folder), staging_folder(folder) as staging:
        progress(f"Loading {len(wanted)} jars from {path} into {folder} ...")
        with Transfer("load", len(wanted), sum(jar_set.size_bytes for jar_set in sets), progress) as transfer:
            _Loading(path, staging, transfer).unpack(file, wanted)
        for jar_set in sets:
            move_in(jar_set.jars, staging / jar_set.folder_name, folder / jar_set.folder_name)
    return sets


def _member(jar_set: JarSet, jar: Jar) -> str:
    return f"jars/{jar_set.folder_name}/{jar.file_name}"


def _append(archive: tarfile.TarFile, name: str, file: Path, transfer: Transfer) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = file.stat().st_size
    entry.mode = 0o644
    with file.open("rb") as content:
        archive.addfile(entry, content)
    transfer.advanced(entry.size)
    transfer.finished(file.name)


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    try:
        source = _Source(path)
    except OSError as error:
        remedy = f"cannot be read ({error.strerror}); name a file that {_MADE_BY} wrote"
        raise RuntimeMissingError("bundle", str(path), remedy) from error
    with BufferedReader(source) as file:
        yield file


class _Source(FileIO):
    """The file of a bundle. An error while it is read is raised as RuntimeMissingError with the name of this file, even
    if it leads to other errors.
    """

    def readinto(self, buffer: WriteableBuffer) -> int | None:
        try:
            return super().readinto(buffer)
        except OSError as error:
            remedy = f"cannot be read to its end ({error.strerror}); copy it again, {_ANEW}"
            raise RuntimeMissingError("bundle", str(self.name), remedy) from error


@dataclass(frozen=True, slots=True)
class _Loading:
    """The loading of a bundle into a staging folder. Every member is checked; tarfile never extracts any."""

    path: Path
    staging: Path
    transfer: Transfer

    def unpack(self, file: IO[bytes], wanted: Mapping[str, _Place]) -> None:
        missing, is_bundle = dict(wanted), False
        try:
            with tarfile.open(fileobj=file, mode="r:") as archive:
                for entry in archive:
                    if entry.name not in missing or entry.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
                        raise self._foreign(entry, wanted)
                    is_bundle = True
                    jar_set, jar = missing[entry.name]
                    content = archive.extractfile(entry)
                    if content is None or entry.size != jar.size_bytes:
                        raise self._damaged(jar)
                    with content:
                        self._store(content, jar_set, jar)
                    del missing[entry.name]
        # For damaged headers, tarfile raises other errors than TarError, too.
        except (tarfile.TarError, EOFError, ValueError, OverflowError) as error:
            if not is_bundle:
                remedy = f"is none; name a file that {_MADE_BY} wrote"
                raise RuntimeMissingError("bundle", str(self.path), remedy) from error
        if missing:
            remedy = f"is cut short: {len(missing)} of {len(wanted)} jars are not whole in it; copy it again, {_ANEW}"
            raise RuntimeMissingError("bundle", str(self.path), remedy)

    def _store(self, content: IO[bytes], jar_set: JarSet, jar: Jar) -> None:
        digest = hashlib.sha256()
        with written(self.staging.parent):
            folder = self.staging / jar_set.folder_name
            folder.mkdir(exist_ok=True)
            file = (folder / jar.file_name).open("wb")
        try:
            while chunk := content.read(_CHUNK_BYTES):
                digest.update(chunk)
                with written(self.staging.parent):
                    file.write(chunk)
                self.transfer.advanced(len(chunk))
        finally:
            with written(self.staging.parent):
                file.close()
        if digest.hexdigest() != jar.sha256:
            raise self._damaged(jar)
        self.transfer.finished(jar.file_name)

    def _damaged(self, jar: Jar) -> RuntimeMissingError:
        remedy = f"holds another {jar.file_name} than the locked one: it is damaged; copy it again, {_ANEW}"
        return RuntimeMissingError("bundle", str(self.path), remedy)

    def _foreign(self, entry: tarfile.TarInfo, wanted: Mapping[str, _Place]) -> RuntimeMissingError:
        if entry.isreg() and entry.name not in wanted and _OF_ANOTHER_LOCK.fullmatch(entry.name):
            remedy = f"has the jars of another version of asc-broker; write it with {_MADE_BY} of the version here"
            return RuntimeMissingError("bundle", str(self.path), remedy)
        name = entry.name[:80].encode("unicode_escape").decode()
        remedy = f"holds {name}, which is no locked jar or there twice; name a file that {_MADE_BY} wrote"
        return RuntimeMissingError("bundle", str(self.path), remedy)
