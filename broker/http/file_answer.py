"""The HTTP answer that sends a file: it reads the file in parts, and always closes it afterwards."""

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
    """The interface of a file that an answer sends."""

    @property
    def size_bytes(self) -> int:
        """Return the size of the file in bytes."""

    def read(self, most_bytes: int) -> bytes:
        """Return the next bytes of the file, or empty bytes at its end."""

    def close(self) -> None:
        """Release the resources of the file. Further calls do nothing."""


class FileAnswer(Response):
    """The answer that creates a file, sends it, and closes it.

    The file is created when the answer starts, so no resources are held before. If the creation fails, the error is
    answered like any other error. If the client disconnects, which cancels the request, the file is closed.
    """

    def __init__(self, make: Callable[[], SentFile], cancellation: Cancellation, name: str, media_type: str) -> None:
        super().__init__(media_type=media_type, headers={"content-disposition": f'attachment; filename="{name}"'})
        del self.headers["content-length"]
        self._make = make
        self._cancellation = cancellation

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file."""
        file = await to_thread.run_sync(self._make)
        try:
            left_bytes = file.size_bytes
            self.headers["content-length"] = str(left_bytes)
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            while left_bytes:
                part = await to_thread.run_sync(file.read, min(left_bytes, _PART_BYTES))
                left_bytes -= len(part)
                if not part or self._cancellation.reason is not None:
                    # The client no longer reads, or the file is shorter than promised. After the headers no error can
                    # be sent.
                    raise ClientDisconnect
                if not left_bytes:
                    # Closed before the last bytes are sent: a client that has the whole answer may request the next one
                    # at once.
                    await to_thread.run_sync(file.close)
                await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            # Deleting a large file takes a while, so a thread does it, and other requests do not wait.
            get_running_loop().run_in_executor(None, file.close)
