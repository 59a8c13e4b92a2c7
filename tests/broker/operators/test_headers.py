"""Which headers of a record say who accepted it: those of the last broker."""

from __future__ import annotations

from dataclasses import replace

import pytest

from broker.operators.headers import LastHop, as_it_came, dead_letter_error, last_hop, source_timestamp_ms

Header = tuple[str, "bytes | None"]
FIRST_HOP: list[Header] = [("asc-query", b"a"), ("asc-query", b"b"), ("asc-source", b"flights-0-7")]
DEAD: list[Header] = [*FIRST_HOP, ("asc-error", b"value is empty"), ("asc-source", b"asc.a-0-3")]


@pytest.mark.parametrize(
    ("headers", "queries", "source"),
    [
        ([], [], None),
        (FIRST_HOP, ["a", "b"], "flights-0-7"),
        ([("trace", b"1"), *FIRST_HOP], ["a", "b"], "flights-0-7"),
        ([*FIRST_HOP, ("asc-query", b"c"), ("asc-source", b"asc.a-0-3")], ["c"], "asc.a-0-3"),
        ([*FIRST_HOP, ("asc-error", b"value is empty"), ("asc-source", b"asc.a-0-3")], [], "asc.a-0-3"),
        ([*FIRST_HOP, ("trace", b"2")], ["a", "b"], "flights-0-7"),
        ([("asc-query", b"\xff"), ("asc-source", b"\xfe-0-1")], ["\ufffd"], "\ufffd-0-1"),
        ([("asc-query", None), ("asc-source", None)], [""], ""),
    ],
)
def test_the_last_source_counts_and_the_queries_just_before_it(
    headers: list[Header], queries: list[str], source: str | None
) -> None:
    found = last_hop(headers)
    assert (found.queries, found.source, found.identity) == (tuple(queries), source, source)


SHAPED: list[Header] = [("asc-shape", b"over/A"), ("asc-shape", b"over/b/c"), *FIRST_HOP]


@pytest.mark.parametrize(
    ("headers", "shapes"),
    [
        ([], []),
        (FIRST_HOP, []),
        (SHAPED, ["over/A", "over/b/c"]),
        ([("trace", b"1"), *SHAPED, ("asc-timestamp", b"1")], ["over/A", "over/b/c"]),
        ([*SHAPED, ("asc-query", b"c"), ("asc-source", b"asc.a-0-3")], []),
        ([*SHAPED, ("asc-shape", b"d/e"), ("asc-query", b"d"), ("asc-source", b"asc.a-0-3")], ["d/e"]),
        ([("asc-shape", b"over/A"), ("asc-error", b"value is empty"), ("asc-source", b"s-0-1")], []),
    ],
)
def test_the_shapes_of_the_last_hop(headers: list[Header], shapes: list[str]) -> None:
    found = last_hop(headers)
    assert found.shapes == tuple(shapes)
    assert replace(found, shapes=()) == last_hop([one for one in headers if one[0] != "asc-shape"])


WINDOW: Header = ("asc-window", b"w")
EVENT: Header = ("asc-event", b"e")
QUERY: Header = ("asc-query", b"q")
SOURCE: Header = ("asc-source", b"s-0-7")
ROUTED_ON: list[Header] = [("asc-query", b"r"), ("asc-source", b"asc.q-0-3"), ("asc-timestamp", b"1")]
OF_EVENT = LastHop(("q",), (), "s-0-7", "e")
OF_SUMMARY = LastHop(("q",), (), None, "e")


@pytest.mark.parametrize(
    ("headers", "found"),
    [
        ([EVENT, QUERY, SOURCE], OF_EVENT),
        ([EVENT, QUERY, SOURCE, ("trace", b"1")], OF_EVENT),
        ([WINDOW, EVENT, QUERY, SOURCE], replace(OF_EVENT, identity="w")),
        ([EVENT, WINDOW, QUERY, SOURCE], replace(OF_EVENT, identity="w")),
        ([WINDOW, QUERY, SOURCE], replace(OF_EVENT, identity="w")),
        ([EVENT, ("asc-shape", b"q/A"), QUERY, SOURCE], replace(OF_EVENT, shapes=("q/A",))),
        # Without a source record.
        ([QUERY, EVENT], OF_SUMMARY),
        ([("trace", b"1"), QUERY, WINDOW, EVENT, ("trace", b"2")], replace(OF_SUMMARY, identity="w")),
        # Routed on by another stream: of the hop before is nothing.
        ([EVENT, QUERY, SOURCE, *ROUTED_ON], LastHop(("r",), (), "asc.q-0-3", "asc.q-0-3")),
        ([QUERY, EVENT, *ROUTED_ON], LastHop(("r",), (), "asc.q-0-3", "asc.q-0-3")),
        ([QUERY, WINDOW, EVENT, *ROUTED_ON], LastHop(("r",), (), "asc.q-0-3", "asc.q-0-3")),
        ([EVENT, QUERY, SOURCE, ("asc-error", b"x"), ("asc-source", b"d-0-1")], LastHop((), (), "d-0-1", "d-0-1")),
        ([EVENT, ("trace", b"1"), QUERY, SOURCE], replace(OF_EVENT, identity="s-0-7")),
    ],
)
def test_the_identity_is_that_of_the_window_else_of_the_event_else_the_source(
    headers: list[Header], found: LastHop
) -> None:
    assert last_hop(headers) == found


@pytest.mark.parametrize(
    ("headers", "error"),
    [
        ([], None),
        (FIRST_HOP, None),
        (DEAD, "value is empty"),
        ([*DEAD, ("asc-query", b"c"), ("asc-source", b"dead-0-1")], None),
        ([("asc-error", b"no source")], None),
    ],
)
def test_only_the_last_hop_says_whether_it_is_a_dead_letter(headers: list[Header], error: str | None) -> None:
    assert dead_letter_error(headers) == error


def test_the_timestamp_of_the_source_is_the_last_one_and_a_number() -> None:
    first, last = ("asc-timestamp", b"1"), ("asc-timestamp", b"-20")
    assert source_timestamp_ms([first, ("asc-source", b"s-0-1"), last]) == -20
    for odd in (b"", b"x", b"1.5", b"9" * 20, None):
        assert source_timestamp_ms([first, ("asc-timestamp", odd)]) is None
    assert source_timestamp_ms([]) is None


def test_a_dead_letter_of_a_delivery_loses_its_own_headers_alone() -> None:
    came = [("asc-source", b"s-0-1"), ("asc-timestamp", b"1"), ("trace", None)]
    own = [("asc-error", b"value is empty"), ("asc-source", b"t-0-2"), ("asc-timestamp", b"2")]
    assert as_it_came([*came, *own]) == came
    assert as_it_came([*came, *own[:2]]) == came
