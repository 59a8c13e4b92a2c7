"""Each failure of a request is one line of its own class, under one root."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import broker
from asc.errors import AscError
from broker.client import errors
from broker.client.client import Client
from broker.client.errors import (
    BY_STATUS,
    ClientError,
    ConflictError,
    InvalidRequestError,
    NoAnswerError,
    RefusedError,
    TimedOutError,
    TooManyRequestsError,
    UnavailableError,
    UnreadableAnswerError,
)

if TYPE_CHECKING:
    from conftest import Address

SECRET = "s3cret-t0ken"
ERROR = {"message": "query id 'a b': use one", "subject": "query id", "value": "a b", "remedy": "use one"}


def test_every_exception_has_the_root_of_the_client_and_of_the_project() -> None:
    found = [one for one in vars(errors).values() if isinstance(one, type) and one.__module__ == errors.__name__]
    assert len(found) > 10
    assert all(issubclass(one, ClientError) for one in found)
    assert issubclass(broker.ClientError, AscError)


@pytest.mark.parametrize("status", [*BY_STATUS, 400, 415, 500])
def test_a_refusal_keeps_status_subject_value_remedy_and_words(address: Address, status: int) -> None:
    line = {"line": 2, "id": "a b", "error": {**ERROR, "caret": None, "start": None}}
    address.will_answer(status, {"error": {**ERROR, "caret": "a > 1\n^"}, "errors": [line]}, Retry_After="2.5")
    with Client(address.url, token=SECRET) as client, pytest.raises(RefusedError) as caught:
        client.show("late")
    error = caught.value
    assert type(error) is BY_STATUS.get(status, RefusedError)
    assert (error.status, error.subject, error.value, error.remedy) == (status, "query id", "a b", "use one")
    assert (str(error), error.caret_text, error.lines) == ("query id 'a b': use one", "a > 1\n^", [line])
    assert SECRET not in f"{error!r}{error}"
    if isinstance(error, (TooManyRequestsError, UnavailableError)):
        assert error.retry_after_s == 2.5


def test_a_refusal_without_a_time_to_wait_has_none(address: Address) -> None:
    for value in ({}, {"Retry_After": "Wed, 21 Oct 2030 07:28:00 GMT"}):
        address.will_answer(429, {"error": ERROR}, **value)
        with Client(address.url) as client, pytest.raises(TooManyRequestsError) as caught:
            client.show("late")
        assert caught.value.retry_after_s is None


def test_an_address_that_is_no_daemon_s_says_so(address: Address) -> None:
    address.will_answer(502, b"<html>bad gateway</html>")
    with Client(address.url) as client:
        with pytest.raises(RefusedError, match="answers 502: is it the daemon's address") as caught:
            client.streams()
        assert caught.value.status == 502
        for body in (b"<html>", b"[]", {"queries": "none"}, {}):
            address.will_answer(200, body)
            with pytest.raises(UnreadableAnswerError):
                list(client.list())


def test_no_answer_is_one_line_of_its_own(address: Address) -> None:
    address.answers.append(None)
    with Client(address.url, timeout_s=0.2) as client:
        with pytest.raises(NoAnswerError, match="ends without an answer"):
            client.streams()
        with pytest.raises(TimedOutError, match="does not answer in time") as caught:
            client.streams()
    assert caught.value.status is None
    with Client("http://127.0.0.1:9") as client, pytest.raises(NoAnswerError, match="start one with 'asc serve'"):
        client.streams()


@pytest.mark.parametrize(
    ("url", "token", "ca_file"),
    [
        ("127.0.0.1:8750", None, None),
        ("ftp://127.0.0.1", None, None),
        ("http://[::1", None, None),
        ("http://127.0.0.1:99999999", None, None),
        ("http://127.0.0.1:9", "two words", None),
        ("http://127.0.0.1:9", "schlüssel", None),
        ("https://127.0.0.1:9", None, "/nowhere.pem"),
    ],
)
def test_what_cannot_be_sent_is_refused_in_one_line(url: str, token: str | None, ca_file: str | None) -> None:
    with pytest.raises(InvalidRequestError) as caught, Client(url, token=token, ca_file=ca_file) as client:
        client.streams()
    assert "\n" not in str(caught.value)
    assert not token or token not in str(caught.value)


def test_a_password_of_the_address_is_not_shown(address: Address) -> None:
    url = address.url.replace("://", f"://me:{SECRET}@")
    with Client(url, token=SECRET) as client:
        assert SECRET not in f"{client!r}{client.url}"
        address.will_answer(502, b"")
        with pytest.raises(RefusedError) as refused:
            client.streams()
        address.will_answer(200, b"no JSON")
        with pytest.raises(UnreadableAnswerError) as unreadable:
            client.streams()
    assert SECRET not in f"{refused.value!r}{refused.value}{unreadable.value!r}"


def test_an_id_that_is_taken_is_a_conflict(address: Address) -> None:
    address.will_answer(412, {"error": ERROR})
    with Client(address.url) as client, pytest.raises(ConflictError):
        client.add("late", "delay > 60", replaces=False)
