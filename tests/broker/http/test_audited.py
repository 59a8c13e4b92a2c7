"""What the audit says of changes, by what became of each."""

from __future__ import annotations

from asc.errors import AscError
from broker.errors import ForbiddenError, KafkaError, QueryError
from broker.http.audited import audited
from broker.queries.change import Alter, Change, Outcome, Put, Registered, Remove
from broker.queries.query import RegisteredQuery

LATE = RegisteredQuery("late", "flights", "delay > 60", "asc.late")
PUT, REMOVE = Put(LATE), Remove("x" * 1_000)


def outcomes(changes: list[Change | AscError], outcome: Outcome | Exception) -> list[object]:
    return [entry["outcome"] for entry in audited("register", changes, outcome)]


def test_what_is_made_is_told_with_its_version_and_where_it_goes() -> None:
    made = Outcome(7, {0: Registered(LATE.at(7), {}, (), "replaced")}, {1: LATE})
    first, second = audited("change", [PUT, REMOVE], made)
    place = {"verb": "change", "stream": "flights", "topic": "asc.late", "version": 7}
    assert first == {**place, "id": "late", "outcome": "replaced"}
    assert second == {**place, "verb": "remove", "id": "x" * 250, "outcome": "removed"}


def test_what_is_refused_keeps_the_others_from_being_made() -> None:
    wrong = QueryError("field id", 1, "is none" * 1_000)
    entries = list(audited("register", [PUT, wrong, Alter("a", lambda _: LATE)], Outcome(refused={1: wrong})))
    assert [entry["outcome"] for entry in entries] == ["not made", "refused", "not made"]
    assert entries[1]["id"] is None
    assert str(entries[1]["error"]).startswith("field id 1: is none")
    assert len(str(entries[1]["error"])) <= 300


def test_what_ends_with_an_error_is_refused_or_has_failed() -> None:
    assert outcomes([PUT], ForbiddenError("token", "t", "may only read")) == ["refused"]
    assert outcomes([PUT, REMOVE], KafkaError("Kafka", "k", "does not answer")) == ["failed", "failed"]
    assert outcomes([PUT], RuntimeError("a\nb")) == ["failed"]
