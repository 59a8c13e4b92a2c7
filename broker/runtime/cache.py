"""The cache folder: jars and the Java wrapper, shared by all brokers of a user."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from broker.errors import RuntimeMissingError
from broker.unfinished_file import unfinished


def cache_folder() -> Path:
    """Return the folder for everything that is fetched once: ``ASC_CACHE_DIR``, or ``~/.cache/asc``.

    ``XDG_CACHE_HOME`` replaces ``~/.cache``. Raise RuntimeMissingError if the folder cannot be created or written.
    """
    chosen = os.environ.get("ASC_CACHE_DIR")
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    folder = Path(chosen or f"{base}/asc")
    try:
        folder = folder.expanduser().absolute()
    except RuntimeError:
        remedy = "begins with a home folder that is not known; name another folder in ASC_CACHE_DIR"
        raise RuntimeMissingError("cache folder", str(folder), remedy) from None
    with written(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Lock the folder for this process; wait while another process holds the lock. If the holder dies, the kernel
    releases the lock.
    """
    with written(folder):
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def written(folder: Path) -> Iterator[None]:
    """Raise RuntimeMissingError, which names the folder, in place of an OSError while the cache is written."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            remedy = f"is full ({error.strerror}); free space, or name another folder in ASC_CACHE_DIR"
        else:
            remedy = f"cannot be written ({error.strerror}); name another folder in ASC_CACHE_DIR"
        raise RuntimeMissingError("cache folder", str(folder), remedy) from error


@contextmanager
def read(file: Path) -> Iterator[None]:
    """Raise RuntimeMissingError, which names the file, in place of an OSError while a file of the cache is read."""
    try:
        yield
    except OSError as error:
        remedy = f"cannot be read ({error.strerror}); make it readable or remove it, or name another in ASC_CACHE_DIR"
        raise RuntimeMissingError("file in the cache folder", str(file), remedy) from error


def write_whole(path: Path, text: str, mode: int = 0o644) -> Path:
    """Write a file so that no reader ever sees a part of it. Leave a file with equal content unchanged."""
    if path.exists() and path.read_text() == text:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    part = unfinished(path)
    part.write_text(text)
    part.chmod(mode)
    part.replace(path)
    return path
