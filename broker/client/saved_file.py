"""Answers that are saved as a file. The file gets its final name only when it is complete."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from broker.client.errors import InvalidRequestError

Saved = Callable[[int, int], None]
"""A callback with the bytes saved so far and the total bytes, called each time that more bytes are saved."""


def check_new(path: Path) -> None:
    """Raise InvalidRequestError if the file exists."""
    if path.exists():
        raise InvalidRequestError("file", str(path), "is there already: name another, or move it away")


def save(parts: Iterable[bytes], size_bytes: int, path: Path, progress: Saved | None) -> int:
    """Write the parts to a temporary file in the same folder, rename it to ``path``, and return its size in bytes.

    Raise InvalidRequestError if a file with this name appeared meanwhile, and OSError if the file cannot be written.
    After any error, the temporary file is deleted. ``size_bytes``: the total size, for calls of ``progress``.
    ``progress``: None makes no calls.
    """
    aside = path.with_name(f"{path.name}.part")
    saved = 0
    try:
        with aside.open("wb") as file:
            for part in parts:
                file.write(part)
                saved += len(part)
                if progress is not None:
                    progress(saved, size_bytes)
            file.flush()
            os.fsync(file.fileno())
        check_new(path)
        aside.rename(path)
    except BaseException:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        raise
    return saved
