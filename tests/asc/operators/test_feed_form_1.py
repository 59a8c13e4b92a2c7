"""Feeds and states of form 1, as the version before wrote them: read, and continued in form 2."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from asc.operators.events.bucket import Bucket
from asc.operators.feed import Message, Observation, Settings, Watermarks, parse
from asc.operators.feed_form_1 import messages_of_form_1, settings_of_form_1
from asc.operators.near.ticks import Ticks

FOLDER = Path(__file__).parent / "form_1"
FEED = (FOLDER / "feed.ndjson").read_text().splitlines()
OUTPUTS: dict[str, Any] = json.loads((FOLDER / "outputs.json").read_text())
BEFORE, AFTER = FEED[: OUTPUTS["messages_before_state"]], FEED[OUTPUTS["messages_before_state"] :]

Part = Bucket | Ticks
KINDS: dict[str, type[Part]] = {"events": Bucket, "near": Ticks}


def part_of_form_1(op: str) -> Part:
    return KINDS[op].of_bytes((FOLDER / f"{op}.state").read_bytes())


def plain(outputs: Sequence[Any]) -> list[list[str]]:
    return [[each.topic, each.key, each.value, each.identity, each.query, each.source] for each in outputs]


@pytest.mark.parametrize("op", KINDS)
def test_a_state_of_form_1_goes_on_with_the_rest_of_its_feed(op: str) -> None:
    part = part_of_form_1(op)
    assert plain(list(part.read(AFTER))) == OUTPUTS[op]
    assert part.counts.excluded == {}


@pytest.mark.parametrize("op", KINDS)
def test_a_feed_of_form_1_is_read_from_its_start(op: str) -> None:
    part = KINDS[op]()
    list(part.read(BEFORE))
    assert part.held == part_of_form_1(op).held > 0
    assert plain(list(part.read(AFTER))) == OUTPUTS[op]
    assert part.counts.excluded == {}


@pytest.mark.parametrize("op", KINDS)
def test_a_state_of_form_1_goes_on_with_messages_of_form_2(op: str) -> None:
    part = part_of_form_1(op)
    (settings,) = (m for text in BEFORE for m in parse(text, op, id) if isinstance(m, Settings))
    renamed = tuple(replace(each, time="e1", selections=(f"a41c-{each.id}",)) for each in settings.queries)
    in_form_2 = [replace(settings, queries=renamed), *(m for text in AFTER for m in in_form_2_of(text, op))]
    assert plain(list(part.read([message.text() for message in in_form_2]))) == OUTPUTS[op]
    assert part.counts.excluded == {}
    # Once written in form 2, it is read as such.
    assert json.loads(json.dumps(part.held)) == KINDS[op].of_bytes(part.to_bytes()).held


def in_form_2_of(text: str, op: str) -> Iterator[Message]:
    """Yield the messages that a job of this version writes in place of an old one."""
    for message in parse(text, op, id):
        if isinstance(message, Observation):
            yield replace(message, selections=tuple(f"a41c-{name}" for name in message.selections))
        elif isinstance(message, Watermarks):
            (watermark_us,) = message.by_time.values()
            yield Watermarks({"e1": watermark_us})


def test_a_kind_that_form_1_did_not_have_reads_nothing_of_it() -> None:
    for text in FEED:
        assert [*messages_of_form_1(json.loads(text), "cube")] == []
    assert settings_of_form_1(json.loads(FEED[0])["settings"], "cube") is None


def test_observations_of_form_1_are_of_the_kind_of_their_track() -> None:
    kinds = {op: [m for text in FEED for m in parse(text, op, id) if isinstance(m, Observation)] for op in KINDS}
    assert {each.track for each in kinds["events"]} == {"ab12"}
    assert {each.track for each in kinds["near"]} == {"n7f"}
    assert sum(map(len, kinds.values())) == sum('"t":' in text for text in FEED)
