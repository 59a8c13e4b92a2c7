"""Answers that are saved as a file: it has its name when it is whole."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from broker.client.errors import InvalidRequestError

Saved = Callable[[int, int], None]
"""A call with the bytes that are saved, and those in all, each time that there are more."""


def check_new(path: Path) -> None:
    """Raise InvalidRequestError for a file that is there."""
    if path.exists():
        raise InvalidRequestError("file", str(path), "is there already: name another, or move it away")


def save(parts: Iterable[bytes], size_bytes: int, path: Path, progress: Saved | None) -> int:
    """Write the parts of a file beside it, and give it its name; return its bytes.

    Raises InvalidRequestError where a file of its name came meanwhile, OSError where it cannot be written. Whatever is
    raised, nothing of it is left.
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
