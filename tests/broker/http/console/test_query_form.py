"""The form of a query: what was left alone stays, line ends, spaces and another's change among it."""

from __future__ import annotations

import pytest

from broker.errors import QueryError
from broker.http.console.query_form import FIELDS, altered, new_fields, shown_fields
from broker.queries.query import RegisteredQuery

STANDING = RegisteredQuery("q", "s", "n > 5\n AND t = 'a\nb'", "asc.q", {"team": " ops ", "kind": ""}, version=7)


def sent(**changes: str) -> dict[str, str]:
    """The form as a browser sends it: with line ends of its own."""
    shown = {name: text.replace("\n", "\r\n") for name, text in shown_fields(STANDING).items()}
    return {**shown, **changes}


def made(**changes: str) -> RegisteredQuery:
    return altered("q", sent(**changes)).altered(STANDING)


def test_it_shows_what_stands() -> None:
    shown = shown_fields(STANDING)
    assert tuple(shown) == FIELDS
    assert shown["labels"] == "team= ops \nkind="
    assert shown["version"] == "7"


def test_what_was_left_alone_stays() -> None:
    same = made()
    assert (same.where, same.topic, same.labels) == (STANDING.where, STANDING.topic, STANDING.labels)
    other = made(labels="team= ops \r\nkind=new")
    assert (other.where, other.labels) == (STANDING.where, {"team": " ops ", "kind": "new"})


def test_what_was_changed_is_changed() -> None:
    assert made(where="n > 6").where == "n > 6"
    assert made(topic="").topic == "asc.q"
    assert made(topic="elsewhere").topic == "elsewhere"


def test_a_form_of_what_stood_before_is_refused() -> None:
    with pytest.raises(QueryError, match="changed by another"):
        made(version="6")


def test_a_new_query_has_the_fields_that_were_filled() -> None:
    form = {"id": "q", "stream": "s", "where": "n > 1", "topic": "", "labels": "a=1\r\n\r\nb= x"}
    assert new_fields(form) == {"id": "q", "where": "n > 1", "labels": {"a": "1", "b": " x"}, "stream": "s"}
    with pytest.raises(QueryError, match="key=value"):
        new_fields({"labels": "a"})
