"""The jars in the cache: fetched once as ``jars.lock`` names them, verified, and either complete or absent."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path

from broker.runtime.cache import cache_folder, folder_lock, read, written
from broker.runtime.locked_jars import Jar, JarSet
from broker.runtime.progress import Progress, Transfer

_CONNECTIONS = 8
_CHUNK_BYTES = 1 << 20


def jars_folder() -> Path:
    """Return the folder of the cache that has a folder for each jar set. Raise RuntimeMissingError as `cache_folder`
    does.
    """
    return cache_folder() / "jars"


def fetch_jars(jar_set: JarSet, progress: Progress = lambda line: None, *, verify: bool = False) -> list[Path]:
    """Return the jars of a set in the cache, sorted. Fetch missing jars first.

    Present jars are checked by name and size, with ``verify`` also by content. New jars are downloaded to a temporary
    folder, and moved when all are present and correct. Concurrent callers wait for one download. Raise
    RuntimeMissingError if it fails.
    """
    folder = jars_folder() / jar_set.folder_name
    if verify or _lacking(jar_set, folder):
        with folder_lock(folder.parent):
            lacking = _lacking(jar_set, folder)
            if verify or lacking:
                # If one file is missing or too short, the others may be damaged too, so check all.
                _fetch(jar_set, [jar for jar in jar_set.jars if not _is_right(folder, jar)], folder, progress)
    return [folder / jar.file_name for jar in jar_set.jars]


def is_complete(jar_set: JarSet) -> bool:
    """Return whether every jar of a set is in the cache, by name and size."""
    return not _lacking(jar_set, jars_folder() / jar_set.folder_name)


@contextmanager
def staging_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder in the folder of jars, and delete it afterwards.

    The caller holds the lock. The folder of an interrupted call is deleted first.
    """
    staging = folder / "fetching"
    with written(folder):
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir(parents=True)
    try:
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def move_in(jars: Sequence[Jar], staging: Path, folder: Path) -> None:
    """Move verified jars to their final folder. After an interruption, each moved jar is complete, and a later call of
    :func:`fetch_jars` fetches the other jars.
    """
    with written(folder):
        folder.mkdir(exist_ok=True)
        for jar in jars:
            (staging / jar.file_name).replace(folder / jar.file_name)


def _lacking(jar_set: JarSet, folder: Path) -> list[Jar]:
    return [jar for jar in jar_set.jars if _size_bytes(folder / jar.file_name) != jar.size_bytes]


def _size_bytes(path: Path) -> int | None:
    with read(path):
        return path.stat().st_size if path.is_file() else None


def _is_right(folder: Path, jar: Jar) -> bool:
    path = folder / jar.file_name
    if _size_bytes(path) != jar.size_bytes:
        return False
    digest = hashlib.sha256()
    with read(path), path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest() == jar.sha256


def _fetch(jar_set: JarSet, jars: Sequence[Jar], folder: Path, progress: Progress) -> None:
    """Download jars in parallel and move them. The first failure ends the other downloads and is raised."""
    if not jars:
        return
    # Imported here: if the cache has all jars, no HTTP client is loaded.
    from broker.runtime.repository import Repository

    size_bytes = sum(jar.size_bytes for jar in jars)
    with staging_folder(folder.parent) as staging, Repository() as repository:
        what = f"{len(jars)} jars of {jar_set}, {size_bytes / 1e6:.0f} MB"

        def fetched(jar: Jar) -> None:
            with written(folder.parent):
                repository.fetch(jar, staging, transfer.advanced)

        progress(f"Fetching {what} from {repository} (once; they are kept in {folder}) ...")
        with (
            Transfer(jar_set.name, len(jars), size_bytes, progress) as transfer,
            ThreadPoolExecutor(_CONNECTIONS, "asc-jars") as pool,
        ):
            try:
                # Start with the largest jars, so that no large download remains alone at the end.
                order = sorted(jars, key=lambda jar: -jar.size_bytes)
                futures = {pool.submit(fetched, jar): jar for jar in order}
                for future in as_completed(futures):
                    future.result()
                    transfer.finished(futures[future].file_name)
            except BaseException:
                repository.abort()
                pool.shutdown(cancel_futures=True)
                raise
        move_in(jars, staging, folder)
