"""Files that are read whole, each kind with a bound on its size."""

from __future__ import annotations

from io import BytesIO
from typing import BinaryIO

TEXT_BYTES_MAX = 16 << 20
"""The largest configuration, schema, token or plan: real ones have some MiB at most."""

QUERIES_BYTES_MAX = 1 << 30
"""The largest load of queries, a folder's files together: eight million queries of ordinary length."""

_STEP_BYTES = 1 << 20


def read_bounded(file: BinaryIO, max_bytes: int) -> bytes:
    """Return the bytes of a file; ValueError for one above ``max_bytes``, of which little more is read.

    A device or a pipe without an end is such a file.
    """
    content = BytesIO()
    while part := file.read(_STEP_BYTES):
        content.write(part)
        if content.tell() > max_bytes:
            raise ValueError(f"has more than {max_bytes >> 20} MiB")
    return content.getvalue()


def text_of(content: bytes) -> str:
    r"""Return UTF-8 text with the line ends of this system; UnicodeDecodeError.

    >>> text_of(b"a INT,\r\nb STRING")
    'a INT,\nb STRING'
    """
    return content.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
