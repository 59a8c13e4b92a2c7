"""The contract of every operator's part of a feed: outputs and state are a function of the messages in their order."""

from __future__ import annotations

import importlib
import json
import math
import pkgutil
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import asc.operators
from asc.errors import FeedFormError
from asc.operators.feed import Message, Observation, Watermarks
from asc.operators.feed_claim import claim_of
from asc.operators.times import LAST_US
from broker.operators.kinds import OPERATORS, feed_kinds
from tests.asc.operators.feed_contract import SECOND, Kind

ALL: dict[str, Kind] = {
    op: importlib.import_module(f"tests.asc.operators.{op}.contract_case").KIND for op in feed_kinds()
}
"""The kinds of the table whose observations go to the feed. Kinds whose states are merged have contracts of their own.
"""


def test_every_kind_is_under_the_contract() -> None:
    packages = {each.name for each in pkgutil.iter_modules(asc.operators.__path__) if each.ispkg}
    assert packages == set(OPERATORS)
    for op, kind in ALL.items():
        assert kind.op == op
        part, own = feed_kinds()[op].part(None), kind.empty()
        assert (type(part), part.to_bytes()) == (type(own), own.to_bytes())
        assert feed_kinds()[op].part(own.to_bytes()).to_bytes() == own.to_bytes()


def run(kind: Kind, texts: Sequence[str], cuts: Sequence[int] = ()) -> tuple[list[Any], bytes]:
    """The outputs of the texts, and the state after them; between two cuts the state is read from its bytes."""
    part = kind.empty()
    outputs: list[Any] = []
    for low, high in zip([0, *cuts], [*cuts, len(texts)], strict=True):
        outputs += part.read(texts[low:high])
        part = kind.of_bytes(part.to_bytes())
    return outputs, part.to_bytes()


@st.composite
def feeds(draw: st.DrawFn, kind: Kind) -> list[str]:
    """Messages as a stream writes them: settings first, offsets ascend, and some messages come again later."""
    messages: list[Message] = [kind.settings[0]]
    second, offset = 0.0, 0
    for _ in range(draw(st.integers(0, 20))):
        second += draw(st.sampled_from([0, 1, 4, 9.5, 31, 400]))
        what = draw(st.sampled_from(["seen"] * 8 + ["passed", "settings", "again"]))
        if what == "again":
            messages.append(draw(st.sampled_from(messages)))
        elif what == "settings":
            messages.append(draw(st.sampled_from(kind.settings)))
        elif what == "passed":
            messages.append(Watermarks({"ts": round((second - 10) * SECOND), "other": 0}))
        else:
            offset += 1
            time_s = second - draw(st.sampled_from([0, 0, 3, 40]))
            messages.append(
                Observation(
                    kind.op,
                    draw(st.sampled_from(["t", "t", "t", "elsewhere"])),
                    draw(st.sampled_from(["a", "b", "c", "é", None])),
                    draw(st.sampled_from([round(time_s * SECOND)] * 5 + [None])),
                    (7.5, draw(st.sampled_from([47.0, 47.003, 47.02, None]))),
                    0,
                    offset,
                    tuple(draw(st.sets(st.sampled_from(["s", "r", "s/CHE"])))),
                )
            )
    return [message.text() for message in [*messages, Watermarks({"ts": round((second + 500) * SECOND)})]]


KIND = pytest.mark.parametrize("kind", ALL.values(), ids=ALL)


@KIND
@settings(max_examples=25)
@given(data=st.data())
def test_no_cut_changes_a_byte(kind: Kind, data: st.DataObject) -> None:
    texts = data.draw(feeds(kind))
    whole = run(kind, texts)
    cuts = data.draw(st.lists(st.integers(0, len(texts)), max_size=5))
    assert run(kind, texts, sorted(cuts)) == whole
    assert run(kind, texts, range(len(texts))) == whole


@KIND
@settings(max_examples=25)
@given(data=st.data())
def test_every_message_twice_is_every_message_once(kind: Kind, data: st.DataObject) -> None:
    texts = data.draw(feeds(kind))
    twice = [text for each in texts for text in (each, each)]
    assert run(kind, twice) == run(kind, texts)


@KIND
@settings(max_examples=25)
@given(data=st.data())
def test_what_is_no_message_of_the_kind_is_counted_and_changes_nothing(kind: Kind, data: st.DataObject) -> None:
    texts = data.draw(feeds(kind))
    observation = {"v": 2, "op": kind.op, "t": "t", "k": "a", "e": 1, "x": [7.5, 47.0], "p": 0, "o": 1, "s": ["s"]}
    wrong = [
        "",
        "{",
        "null",
        "[1]",
        json.dumps({**observation, "op": "cube"}),
        json.dumps({**observation, "o": None}),
        json.dumps({"v": 2, "op": kind.op}),
        json.dumps({"v": 2, "op": kind.op, "settings": {"queries": 5}}),
        json.dumps({"v": 2, "time": {"ts": "x"}}),
    ]
    places = data.draw(st.lists(st.integers(0, len(texts)), min_size=len(wrong), max_size=len(wrong)))
    mixed = list(texts)
    for place, text in sorted(zip(places, wrong, strict=True), reverse=True):
        mixed.insert(place, text)
    part = kind.empty()
    assert (list(part.read(mixed)), part.to_bytes()) == run(kind, texts)
    assert part.counts.excluded["unreadable"] == len(wrong)


ODD_NUMBERS = [-1, 0, (1 << 63) - 1, 1 << 63, -(1 << 63), -(1 << 64), 10**400, 1e308, math.nan, True]


def numbers_of(plain: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each number in the plain form of a message, but for the number of its form."""
    if isinstance(plain, dict | list):
        for name, own in plain.items() if isinstance(plain, dict) else enumerate(plain):
            yield from numbers_of(own, (*path, name))
    elif type(plain) in (int, float) and path != ("v",):
        yield path


def with_number(text: str, path: Sequence[Any], number: object) -> str:
    plain = own = json.loads(text)
    for name in path[:-1]:
        own = own[name]
    own[path[-1]] = number
    return json.dumps(plain)


@KIND
def test_no_number_in_a_message_ends_its_reader(kind: Kind) -> None:
    """A number out of range is counted with its message, and the messages after it are read as without it."""

    def seen(offset: int, second: float, key: str = "a") -> str:
        return Observation(kind.op, "t", key, round(second * SECOND), (7.5, 47.0), 0, offset, ("s",)).text()

    before = [kind.numbered.text(), seen(1, 1), seen(2, 1.5, "b"), Watermarks({"ts": 2 * SECOND}).text()]
    later = [(12, "a"), (12.5, "b"), (12.75, "c"), (38, "a"), (-5, "d")]
    after = [seen(offset, *own) for offset, own in enumerate(later, start=4)]
    after += [Watermarks({"ts": second * SECOND}).text() for second in (13, 41, 700)]
    numbered = [kind.numbered.text(), seen(3, 11), Watermarks({"ts": 12 * SECOND}).text()]
    usual = run(kind, [*before, *after])
    assert usual[0]
    refused = set()
    for text in numbered:
        for path in numbers_of(json.loads(text)):
            for number in ODD_NUMBERS:
                part = kind.empty()
                outputs = list(part.read([*before, with_number(text, path, number)]))
                unreadable = part.counts.excluded["unreadable"]
                part = kind.of_bytes(part.to_bytes())
                outputs += part.read(after)
                if unreadable:
                    refused.add((text, path))
                    assert (outputs, part.to_bytes()) == usual, (path, number)
                assert part.counts.excluded["unreadable"] == 0, (path, number)
                kind.of_bytes(part.to_bytes())
    # Coordinates are those of the record, and are judged with it.
    every = {(text, path) for text in numbered for path in numbers_of(json.loads(text)) if path[0] != "x"}
    assert refused == every


@KIND
def test_two_queries_of_one_id_are_no_settings(kind: Kind) -> None:
    twice = replace(kind.numbered, queries=kind.numbered.queries[:1] * 2)
    part = kind.empty()
    assert list(part.read([twice.text()])) == []
    assert part.counts.excluded == {"unreadable": 1}


@KIND
@settings(max_examples=25)
@given(data=st.data())
def test_outputs_of_one_identity_are_equal(kind: Kind, data: st.DataObject) -> None:
    outputs, _ = run(kind, data.draw(feeds(kind)))
    assert all(one.identity.startswith(one.query) and one.topic for one in outputs)
    # No output differs from another one of its identity: a consumer may drop the later one.
    first = {one.identity: one for one in reversed(outputs)}
    assert [first[one.identity] for one in outputs] == outputs


@KIND
@settings(max_examples=25)
@given(data=st.data())
def test_messages_of_a_replaced_writer_change_nothing(kind: Kind, data: st.DataObject) -> None:
    texts = data.draw(feeds(kind))
    own = [json.dumps({**json.loads(text), "w": "leader"}) for text in texts]
    stopped = [json.dumps({**json.loads(text), "w": "stopped"}) for text in data.draw(feeds(kind))]
    mixed = list(own)
    for text in stopped:
        mixed.insert(data.draw(st.integers(0, len(mixed))), text)
    place = data.draw(st.integers(0, len(mixed)))
    part = kind.empty()
    outputs = list(part.read([claim_of("stopped"), claim_of("leader"), *mixed[:place]]))
    excluded = part.counts.excluded["replaced_writer"]
    part = kind.of_bytes(part.to_bytes())
    outputs += part.read(mixed[place:])
    alone = kind.empty()
    assert outputs == list(alone.read([claim_of("leader"), *own]))
    assert part.to_bytes() == alone.to_bytes()
    assert excluded + part.counts.excluded["replaced_writer"] == len(stopped)


def registered(texts: Sequence[str], since: int | None) -> list[str]:
    """The texts, where the settings have queries of this registration, and room for all that is observed."""
    found = [json.loads(text) for text in texts]
    for plain in found:
        if "settings" in plain:
            plain["settings"]["limit"] = 1_000
            for query in plain["settings"]["queries"] if since is not None else ():
                query["definition"]["since"] = since
    return [json.dumps(plain) for plain in found]


@KIND
@settings(max_examples=25)
@given(data=st.data())
def test_a_query_of_another_registration_is_one_that_was_removed_in_between(kind: Kind, data: st.DataObject) -> None:
    texts = data.draw(feeds(kind))
    place = data.draw(st.integers(1, len(texts)))
    before, after = registered(texts[:place], 3), registered([kind.settings[0].text(), *texts[place:]], 9)
    removed = replace(kind.settings[0], queries=()).text()
    outputs, state = run(kind, [*before, *after])
    wanted, wanted_state = run(kind, [*before, removed, *after])
    assert outputs == wanted
    # A track of DBSCAN counts its points further.
    assert state == wanted_state or kind.op == "dbscan"


@pytest.mark.parametrize("kind", [ALL["events"], ALL["near"]], ids=lambda kind: kind.op)
@settings(max_examples=25)
@given(data=st.data())
def test_a_query_of_the_version_before_goes_on(kind: Kind, data: st.DataObject) -> None:
    """Its settings, in feeds and states, have no registration."""
    texts = data.draw(feeds(kind))
    place = data.draw(st.integers(1, len(texts)))
    before, after = texts[:place], [kind.settings[0].text(), *texts[place:]]
    outputs, _ = run(kind, [*registered(before, None), *registered(after, 7)], [place])
    assert outputs == run(kind, registered([*before, *after], None))[0]


@KIND
@settings(max_examples=25)
@given(data=st.data())
def test_a_watermark_beyond_all_times_changes_nothing(kind: Kind, data: st.DataObject) -> None:
    """The version before wrote it where a record had such a time."""
    texts = data.draw(feeds(kind))
    place, far_us = data.draw(st.integers(0, len(texts))), data.draw(st.sampled_from([LAST_US, 9 * 10**18]))
    assert run(kind, [*texts[:place], Watermarks({"ts": far_us}).text(), *texts[place:]]) == run(kind, texts)


@KIND
def test_a_registration_that_is_no_number_is_unreadable(kind: Kind) -> None:
    plain = json.loads(kind.settings[0].text())
    plain["settings"]["queries"][0]["definition"]["since"] = "7"
    part = kind.empty()
    assert list(part.read([json.dumps(plain)])) == []
    assert part.counts.excluded == {"unreadable": 1}


@KIND
def test_no_more_than_the_limit_is_held(kind: Kind) -> None:
    """The limit in settings is the kind's share of ``stream_objects`` or ``stream_dbscan_points``."""
    seen = [Observation(kind.op, "t", f"k{n}", n * SECOND // 100, (7.5, 47.0), 0, n, ("s",)).text() for n in range(500)]
    part = kind.empty()
    list(part.read([kind.settings[0].text(), *seen]))
    assert 0 < part.held <= kind.held_most
    assert part.counts.excluded["capacity"] >= 500 - kind.held_most


@KIND
def test_a_message_or_state_of_a_later_form_names_the_remedy(kind: Kind) -> None:
    later = json.dumps({"v": 3, "op": kind.op, "t": "t", "p": 0, "o": 1})
    with pytest.raises(FeedFormError, match="a later version wrote it: run that"):
        list(kind.empty().read([later]))
    with pytest.raises(FeedFormError, match="run the version that wrote it"):
        kind.of_bytes(re.sub(rb'"form":\d', b'"form":9', kind.empty().to_bytes()))
