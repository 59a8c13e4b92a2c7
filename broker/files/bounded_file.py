"""Files, or standard input, that a command reads whole."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO

from broker.errors import InputError
from broker.whole_file import TEXT_BYTES_MAX, read_bounded, text_of

STDIN = "-"


def read_text(path: Path) -> str:
    """Return the UTF-8 text of a schema, a token or a plan.

    Raise InputError if the file is larger than `TEXT_BYTES_MAX` or not UTF-8. Raise OSError if it cannot be read.
    """
    content = read_whole(path, TEXT_BYTES_MAX)
    try:
        return text_of(content)
    except UnicodeDecodeError as error:
        raise InputError("not UTF-8 text, file", str(path), f"byte {error.start} is not; save it as UTF-8") from None


def read_whole(path: Path, max_bytes: int) -> bytes:
    """Return the bytes of a file, or of standard input if the path is ``-``.

    Raise InputError if the file is larger than ``max_bytes``. Raise OSError if it cannot be read.
    """
    if str(path) == STDIN:
        return _read(sys.stdin.buffer, "<stdin>", max_bytes)
    with path.open("rb") as file:
        return _read(file, str(path), max_bytes)


def _read(file: BinaryIO, name: str, max_bytes: int) -> bytes:
    try:
        return read_bounded(file, max_bytes)
    except ValueError as error:
        raise InputError("file", name, f"{error}: divide it, or name the right one") from None
