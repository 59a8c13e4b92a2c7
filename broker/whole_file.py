"""Files that are read whole, with a size limit for each kind."""

from __future__ import annotations

from io import BytesIO
from typing import BinaryIO

TEXT_BYTES_MAX = 16 << 20
"""The largest configuration, schema, token or plan. Real files have some MiB at most."""

QUERIES_BYTES_MAX = 1 << 30
"""The largest load of queries, in all files of a folder together: eight million queries of ordinary length."""

_STEP_BYTES = 1 << 20


def read_bounded(file: BinaryIO, max_bytes: int) -> bytes:
    """Return the bytes of a file. Raise ValueError if it exceeds ``max_bytes``, after reading little more than that.

    A device or a pipe without an end exceeds it.
    """
    content = BytesIO()
    while part := file.read(_STEP_BYTES):
        content.write(part)
        if content.tell() > max_bytes:
            raise ValueError(f"has more than {max_bytes >> 20} MiB")
    return content.getvalue()


def text_of(content: bytes) -> str:
    r"""Return UTF-8 bytes as text with plain line breaks. Raise UnicodeDecodeError.

    >>> text_of(b"a INT,\r\nb STRING")
    'a INT,\nb STRING'
    """
    return content.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
