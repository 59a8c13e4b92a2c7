"""Claims of a feed: the messages of one daemon count from its claim on, and those of every other one no more.

A daemon that stands still may go on to write long after another one took its place: settings that are out of date, and
observations of times that are final. Each message bears its writer. A claim says, in the order of a partition, whose
messages count from there on. So a reader of the feed needs no clock, and no number that grows.
"""

from __future__ import annotations

from collections.abc import Iterable

from asc.operators.feed import FORM, TIME_KEY

WRITER = "w"
"""The field of the writer, behind that of the form."""

_HEAD = f'{{"v":{FORM},'
_SIGNED = f'{_HEAD}"{WRITER}":"'.encode()
_CLAIM = f'"claim":true,"{TIME_KEY}":{{}}}}'
_KEPT = b"writer "


def signed(text: str, writer: str) -> str:
    """Return a message of the present form with its writer, a word of letters and digits.

    >>> signed('{"v":2,"time":{}}', "a7")
    '{"v":2,"w":"a7","time":{}}'
    """
    return f'{_HEAD}"{WRITER}":"{writer}",{text.removeprefix(_HEAD)}'


def claim_of(writer: str) -> str:
    """Return the claim of a writer: to readers that know of none, watermarks without any."""
    return signed(_HEAD + _CLAIM, writer)


def counted(texts: Iterable[bytes], writer: str | None) -> tuple[list[bytes], str | None]:
    """Return the messages that count among the next ones of a partition, and the writer of its last claim.

    ``writer``: that of the last claim before them; None where there was none, and all messages count.
    """
    found = []
    for text in texts:
        own, _, rest = text.removeprefix(_SIGNED).partition(b'",') if text.startswith(_SIGNED) else (b"", b"", b"")
        if rest == _CLAIM.encode():
            writer = own.decode("utf-8", "replace")
        elif writer is None or own == writer.encode():
            found.append(text)
    return found, writer


def with_writer(state: bytes, writer: str | None) -> bytes:
    """Return the state of a part with the writer of its last claim before it."""
    return state if writer is None else _KEPT + writer.encode() + b"\n" + state


def without_writer(content: bytes) -> tuple[bytes, str | None]:
    """Return state and writer of what :func:`with_writer` made, or of a state from before the first claim."""
    if not content.startswith(_KEPT):
        return content, None
    head, _, state = content.partition(b"\n")
    return state, head.removeprefix(_KEPT).decode()
