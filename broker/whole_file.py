"""Reading of whole files, with a size limit for each kind of file."""

from __future__ import annotations

from io import BytesIO
from typing import BinaryIO

TEXT_BYTES_MAX = 16 << 20
"""The largest size of a file with a configuration, a schema, a token or a plan, in bytes. Real files have several MiB
at most.
"""

QUERIES_BYTES_MAX = 1 << 30
"""The largest size of a load of queries, in bytes, for all files of a folder together. Eight million queries of
ordinary length have this size.
"""

_STEP_BYTES = 1 << 20


def read_bounded(file: BinaryIO, max_bytes: int) -> bytes:
    """Return the bytes of a file. Raise ValueError if the file has more than ``max_bytes``. In this case, at most 1 MiB
    beyond ``max_bytes`` is read.

    A device or a pipe without an end has more bytes than any limit.
    """
    content = BytesIO()
    while part := file.read(_STEP_BYTES):
        content.write(part)
        if content.tell() > max_bytes:
            raise ValueError(f"has more than {max_bytes >> 20} MiB")
    return content.getvalue()


def text_of(content: bytes) -> str:
    r"""Return UTF-8 bytes as text, with ``\n`` for each line break. Raise UnicodeDecodeError if the bytes are not
    UTF-8.

    >>> text_of(b"a INT,\r\nb STRING")
    'a INT,\nb STRING'
    """
    return content.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
