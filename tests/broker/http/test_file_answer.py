"""The answer that is a file: whole, or closed without an end."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from io import BytesIO
from typing import Any

import pytest
from starlette.requests import ClientDisconnect

from broker.cancellation import Cancellation
from broker.errors import TooManyDumpsError
from broker.http.file_answer import FileAnswer

CONTENT = bytes(range(256)) * (3 << 12)


class File:
    """A file in memory, which knows whether it was closed; ``cut``: it ends before its bytes do."""

    def __init__(self, *, cut: bool = False) -> None:
        self.size_bytes = len(CONTENT)
        self.closed = 0
        self._file = BytesIO(CONTENT[:-7] if cut else CONTENT)

    def read(self, most_bytes: int) -> bytes:
        return self._file.read(most_bytes)

    def close(self) -> None:
        self.closed += 1


class Client:
    """The messages that a client was sent; ``work`` is done with each."""

    def __init__(self, work: Any = lambda count: None) -> None:
        self.messages: list[MutableMapping[str, Any]] = []
        self._work = work

    async def send(self, message: MutableMapping[str, Any]) -> None:
        self.messages.append(message)
        found = self._work(len(self.messages))
        if found is not None:
            await found

    @staticmethod
    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.disconnect"}

    @property
    def body(self) -> bytes:
        return b"".join(one.get("body", b"") for one in self.messages)


async def sent(answer: FileAnswer, client: Client) -> None:
    await answer({"type": "http"}, client.receive, client.send)
    # What is closed beside the loop.
    await asyncio.sleep(0.05)


def answer_of(file: File, cancellation: Cancellation | None = None) -> FileAnswer:
    return FileAnswer(lambda: file, cancellation or Cancellation(), "cubes.sqlite", "application/x")


def test_a_client_gets_all_of_it_with_its_length() -> None:
    file = File()
    client = Client(lambda count: None if count < 4 else closed.append(file.closed))
    closed: list[int] = []
    asyncio.run(sent(answer_of(file), client))
    headers = dict(client.messages[0]["headers"])
    assert headers[b"content-length"] == str(len(CONTENT)).encode()
    assert headers[b"content-disposition"] == b'attachment; filename="cubes.sqlite"'
    assert client.body == CONTENT
    # It is closed before the last part is sent, so that the client may ask for the next file.
    assert closed[0] == 1
    assert [one["more_body"] for one in client.messages[1:]] == [True, True, True, False]


def test_a_client_that_is_gone_ends_it() -> None:
    file, cancellation = File(), Cancellation()
    client = Client(lambda count: cancellation.cancel("the client is gone") if count == 2 else None)
    with pytest.raises(ClientDisconnect):
        asyncio.run(sent(answer_of(file, cancellation), client))
    assert len(client.messages) == 2
    assert file.closed


def test_a_request_that_is_cancelled_closes_it() -> None:
    file = File()

    async def cancelled() -> None:
        task = asyncio.ensure_future(sent(answer_of(file), Client(lambda count: asyncio.sleep(60))))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0.05)

    asyncio.run(cancelled())
    assert file.closed


def test_a_file_that_is_shorter_than_it_says_has_no_end() -> None:
    file, client = File(cut=True), Client()
    with pytest.raises(ClientDisconnect):
        asyncio.run(sent(answer_of(file), client))
    assert client.messages[-1]["more_body"]
    assert file.closed


def test_what_making_it_raises_comes_before_its_beginning() -> None:
    def refused() -> File:
        raise TooManyDumpsError("dumps of cubes", 1, "is made or read now: ask again when it is over")

    client = Client()
    with pytest.raises(TooManyDumpsError):
        asyncio.run(sent(FileAnswer(refused, Cancellation(), "x", "application/x"), client))
    assert client.messages == []
