"""The head of a request, as one reading of it only: what a proxy before the API could read otherwise is refused."""

from __future__ import annotations

import re
from typing import Any

import h11

_END = re.compile(rb"\n\r?\n")
_BARE_OR_FOLDED = re.compile(rb"(?<!\r)\n|\n[ \t]")
_LENGTH = re.compile(rb"\ncontent-length:([^\r\n]*)", re.IGNORECASE)
_CODING = re.compile(rb"\ntransfer-encoding:", re.IGNORECASE)


class StrictConnection(h11.Connection):
    """HTTP/1.1 as h11 reads it, without the heads that RFC 9112 lets a server read in its own way.

    Those are lines that end without a carriage return, folded lines, several lengths of a body, though they be equal,
    and a length beside a transfer coding. Each is an error of the client, as others that h11 finds.
    """

    def next_event(self) -> Any:
        """Return the next part of a request; RemoteProtocolError for a head that may be read in two ways."""
        if self.their_state is h11.IDLE:
            wrong = _ambiguity(self.trailing_data[0])
            if wrong is not None:
                raise h11.RemoteProtocolError(wrong)
        return super().next_event()


def _ambiguity(received: bytes) -> str | None:
    """Return what is ambiguous in a head, of which a part may be missing; None where nothing is."""
    end = _END.search(received)
    head = received if end is None else received[: end.end()]
    if _BARE_OR_FOLDED.search(head):
        return "a line is folded, or ends without a carriage return"
    lengths = _LENGTH.findall(head)
    if len(lengths) > 1 or any(b"," in length for length in lengths):
        return "several Content-Length"
    if lengths and _CODING.search(head):
        return "both Content-Length and Transfer-Encoding"
    return None
