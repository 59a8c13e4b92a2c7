"""The strict parsing of request heads. The parser refuses a head that a proxy in front of the daemon could interpret
differently, because an attacker could hide a second request in it.
"""

from __future__ import annotations

import re
from typing import Any

import h11

_END = re.compile(rb"\n\r?\n")
_BARE_OR_FOLDED = re.compile(rb"(?<!\r)\n|\n[ \t]")
_LENGTH = re.compile(rb"\ncontent-length:([^\r\n]*)", re.IGNORECASE)
_CODING = re.compile(rb"\ntransfer-encoding:", re.IGNORECASE)
_OF_HTTP_1_0 = re.compile(rb"[^\n]* HTTP/1\.0\r\n")
_END_BYTES = 3

HEAD_MAX_BYTES = 16 << 10
"""The most bytes of the head of a request, and of the head of a chunk in a chunked body."""


class StrictConnection(h11.Connection):
    """The HTTP/1.1 parser of h11, which also refuses heads that RFC 9112 lets a server interpret in its own way.

    It refuses lines that end without a carriage return, folded lines, and several headers Content-Length, even with
    equal values. It also refuses Transfer-Encoding together with Content-Length, or in HTTP/1.0. Each is reported as an
    error of the client, like the errors that h11 finds. Cost: each byte of a head is inspected a constant number of
    times, however small the received pieces are.
    """

    def __init__(self, our_role: type[h11.CLIENT] | type[h11.SERVER]) -> None:
        super().__init__(our_role, max_incomplete_event_size=HEAD_MAX_BYTES)
        self._searched_bytes = 0

    def next_event(self) -> Any:
        """Return the next part of a request. Raise RemoteProtocolError for a head that servers may interpret
        differently.
        """
        if self.their_state is h11.IDLE:
            received = self.trailing_data[0]
            end = _END.search(received, max(0, self._searched_bytes - _END_BYTES))
            self._searched_bytes = len(received) if end is None else 0
            wrong = None if end is None else _ambiguity(received[: end.end()])
            if wrong is not None:
                raise h11.RemoteProtocolError(wrong)
        return super().next_event()


def _ambiguity(head: bytes) -> str | None:
    """Return a text about the first part of a head that servers may interpret differently. Return None if there is
    none.
    """
    if _BARE_OR_FOLDED.search(head):
        return "a line is folded, or ends without a carriage return"
    lengths = _LENGTH.findall(head)
    if len(lengths) > 1 or any(b"," in length for length in lengths):
        return "several Content-Length"
    if _CODING.search(head) is None:
        return None
    if lengths:
        return "both Content-Length and Transfer-Encoding"
    return "Transfer-Encoding in HTTP/1.0" if _OF_HTTP_1_0.match(head) else None
