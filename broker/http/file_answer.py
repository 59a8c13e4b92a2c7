"""The HTTP answer that sends a file in parts, and closes the file in every case afterwards."""

from __future__ import annotations

from asyncio import get_running_loop
from collections.abc import Callable
from typing import Protocol

from anyio import to_thread
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from broker.cancellation import Cancellation

_PART_BYTES = 1 << 20


class SentFile(Protocol):
    """The interface of a file that :class:`FileAnswer` sends."""

    @property
    def size_bytes(self) -> int:
        """Return the size of the file in bytes."""

    def read(self, most_bytes: int) -> bytes:
        """Return the next bytes of the file, at most ``most_bytes``, or empty bytes at the end of the file."""

    def close(self) -> None:
        """Release the resources of the file. Further calls do nothing."""


class FileAnswer(Response):
    """An HTTP answer that creates a file, sends it as an attachment, and closes it.

    ``make``: a function that creates the file. It is called when the answer starts, so that a request occupies no disk
    space before. If the creation fails, the error is answered like any other error. If the client disconnects,
    ``cancellation`` is cancelled, and the file is closed. ``name``: the file name that the client sees.
    """

    def __init__(self, make: Callable[[], SentFile], cancellation: Cancellation, name: str, media_type: str) -> None:
        super().__init__(media_type=media_type, headers={"content-disposition": f'attachment; filename="{name}"'})
        del self.headers["content-length"]
        self._make = make
        self._cancellation = cancellation

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Create the file, send its bytes in parts, and close it."""
        file = await to_thread.run_sync(self._make)
        try:
            left_bytes = file.size_bytes
            self.headers["content-length"] = str(left_bytes)
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            while left_bytes:
                part = await to_thread.run_sync(file.read, min(left_bytes, _PART_BYTES))
                left_bytes -= len(part)
                if not part or self._cancellation.reason is not None:
                    # The client no longer reads, or the file is shorter than promised. No error can be sent after the
                    # headers, so the connection is closed.
                    raise ClientDisconnect
                if not left_bytes:
                    # The file is closed before its last bytes are sent, because a client that has the whole answer may
                    # request the next dump at once.
                    await to_thread.run_sync(file.close)
                await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            # A thread closes the file, because closing may delete a large file, which takes a while, and other requests
            # must not wait.
            get_running_loop().run_in_executor(None, file.close)
