"""The parts of a large load: whole lines, of a size that the daemon takes."""

from __future__ import annotations

from broker.client.errors import TooLargeError

_OF_ALL = "parts of loads"
"""The subject of a refusal because all unfinished loads are too large together: smaller parts do not mend that."""


def part_at(content: bytes, start: int, size_bytes: int) -> bytes:
    r"""Return the lines from a place on, of so many bytes at most; a longer line is one part.

    >>> part_at(b"a\nbb\nccc\n", 0, 5), part_at(b"a\nbb\nccc\n", 5, 3)
    (b'a\nbb\n', b'ccc\n')
    """
    if len(content) - start <= size_bytes:
        return content[start:]
    end = content.rfind(b"\n", start, start + size_bytes) + 1
    end = end or content.find(b"\n", start) + 1 or len(content)
    return content[start:end]


def halved(part: bytes, error: TooLargeError) -> int:
    r"""Return the size of parts to try after one was refused as too large; raise the refusal where none is smaller.

    >>> halved(b"a\nbb\nccc\n", TooLargeError("body", "over 5 bytes", "send it in parts"))
    4
    """
    if error.subject == _OF_ALL or b"\n" not in part[:-1]:
        raise error
    return len(part) // 2
