"""The division of a large load into parts of whole lines, each of a size that the daemon accepts."""

from __future__ import annotations

from broker.client.errors import TooLargeError

_OF_ALL = "parts of loads"
"""The subject of the daemon's refusal if all unfinished loads together are too large. Smaller parts do not help in this
case.
"""


def part_at(content: bytes, start: int, size_bytes: int) -> bytes:
    r"""Return whole lines from offset ``start`` on, with at most ``size_bytes`` in total. If the first line is longer,
    return this one line.

    >>> part_at(b"a\nbb\nccc\n", 0, 5), part_at(b"a\nbb\nccc\n", 5, 3)
    (b'a\nbb\n', b'ccc\n')
    """
    if len(content) - start <= size_bytes:
        return content[start:]
    end = content.rfind(b"\n", start, start + size_bytes) + 1
    end = end or content.find(b"\n", start) + 1 or len(content)
    return content[start:end]


def halved(part: bytes, error: TooLargeError) -> int:
    r"""Return half the size of ``part`` in bytes, as the size of further parts, after the daemon refused ``part`` as
    too large. Raise the refusal again if no smaller size helps: if ``part`` is a single line, or if all unfinished
    loads together are too large.

    >>> halved(b"a\nbb\nccc\n", TooLargeError("body", "over 5 bytes", "send it in parts"))
    4
    """
    if error.subject == _OF_ALL or b"\n" not in part[:-1]:
        raise error
    return len(part) // 2
