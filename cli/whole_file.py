"""Files that a command reads whole, each kind with a bound on its size."""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from cli.failure import CommandError

TEXT_BYTES_MAX = 16 << 20
"""The largest schema, token or plan: real ones have some MiB at most."""

QUERIES_BYTES_MAX = 1 << 30
"""The largest load of queries, a folder's files together: eight million queries of ordinary length."""

STDIN = "-"

_STEP_BYTES = 1 << 20


def read_text(path: Path) -> str:
    """Return the UTF-8 text of a schema, a token or a plan.

    Errors: CommandError for a file above `TEXT_BYTES_MAX` and for one that is not UTF-8; OSError.
    """
    content = read_whole(path, TEXT_BYTES_MAX)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CommandError("not UTF-8 text, file", str(path), f"byte {error.start} is not; save it as UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_whole(path: Path, max_bytes: int) -> bytes:
    """Return the bytes of a file, or of standard input for ``-``.

    Errors: CommandError for one above ``max_bytes``, of which no more is read; OSError. A device or a pipe without an
    end is such a file.
    """
    if str(path) == STDIN:
        return _bounded(sys.stdin.buffer, "<stdin>", max_bytes)
    with path.open("rb") as file:
        return _bounded(file, str(path), max_bytes)


def _bounded(file: BinaryIO, name: str, max_bytes: int) -> bytes:
    content = BytesIO()
    while part := file.read(_STEP_BYTES):
        content.write(part)
        if content.tell() > max_bytes:
            raise CommandError("file", name, f"has more than {max_bytes >> 20} MiB: divide it, or name the right one")
    return content.getvalue()
