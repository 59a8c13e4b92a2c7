"""Answers that are saved: a whole file, or none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from broker.client.client import Client
from broker.client.errors import (
    InvalidRequestError,
    NoAnswerError,
    NotAllowedError,
    TooManyRequestsError,
    UnreadableAnswerError,
)
from broker.client.saved_file import save

if TYPE_CHECKING:
    from conftest import Address

CONTENT = bytes(range(256)) * 5_000


@pytest.fixture
def client(address: Address) -> Iterator[Client]:
    with Client(address.url) as own:
        yield own


def test_a_copy_has_its_name_when_it_is_whole(client: Client, address: Address, tmp_path: Path) -> None:
    address.will_answer(200, CONTENT, Content_Length=str(len(CONTENT)))
    steps: list[tuple[int, int]] = []
    names: set[str] = set()

    def progress(saved: int, size: int) -> None:
        steps.append((saved, size))
        names.update(each.name for each in tmp_path.iterdir())

    assert client.cubes.dump("a b", tmp_path / "copy", progress=progress) == len(CONTENT)
    assert address.asked == [("GET", "/v1/streams/a%20b/cubes/dump")]
    assert (tmp_path / "copy").read_bytes() == CONTENT
    assert [each.name for each in tmp_path.iterdir()] == ["copy"]
    assert names == {"copy.part"}
    assert steps[-1] == (len(CONTENT), len(CONTENT))


def test_a_connection_that_ends_early_leaves_nothing(client: Client, address: Address, tmp_path: Path) -> None:
    address.will_answer(200, CONTENT, Content_Length=str(len(CONTENT) + 1))
    with pytest.raises(NoAnswerError, match="the connection ends without an answer"):
        client.cubes.dump("s", tmp_path / "copy")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("status", "expected"), [(403, NotAllowedError), (429, TooManyRequestsError)])
def test_a_refusal_is_told_and_leaves_nothing(
    client: Client, address: Address, tmp_path: Path, status: int, expected: type[Exception]
) -> None:
    error = {"message": "dumps of cubes 1: ask again", "subject": "dumps", "value": 1, "remedy": "ask again"}
    address.will_answer(status, {"error": error})
    with pytest.raises(expected, match="ask again"):
        client.cubes.dump("s", tmp_path / "copy")
    assert list(tmp_path.iterdir()) == []


def test_an_answer_without_a_length_is_none_of_a_daemon(client: Client, address: Address, tmp_path: Path) -> None:
    address.will_answer(200, b"x")
    with pytest.raises(UnreadableAnswerError, match="no length answered by"):
        client.cubes.dump("s", tmp_path / "copy")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_refused_before_anything_is_asked(
    client: Client, address: Address, tmp_path: Path
) -> None:
    (tmp_path / "copy").write_bytes(b"mine")
    with pytest.raises(InvalidRequestError, match="is there already: name another, or move it away"):
        client.cubes.dump("s", tmp_path / "copy")
    assert address.asked == []
    assert (tmp_path / "copy").read_bytes() == b"mine"


def test_a_file_that_came_meanwhile_stays(tmp_path: Path) -> None:
    def parts() -> Iterator[bytes]:
        yield b"a"
        (tmp_path / "copy").write_bytes(b"mine")

    with pytest.raises(InvalidRequestError, match="is there already"):
        save(parts(), 1, tmp_path / "copy", None)
    assert (tmp_path / "copy").read_bytes() == b"mine"
    assert [each.name for each in tmp_path.iterdir()] == ["copy"]


def test_a_place_that_cannot_be_written_is_told(client: Client, address: Address, tmp_path: Path) -> None:
    address.will_answer(200, b"x", Content_Length="1")
    with pytest.raises(FileNotFoundError):
        client.cubes.dump("s", tmp_path / "nowhere" / "copy")
