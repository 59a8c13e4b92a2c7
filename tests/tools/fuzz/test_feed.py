"""Any message of a feed is read or counted: some seconds of what ``make fuzz`` does for minutes."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from asc.operators.near.ticks import Ticks
from broker.operators.kinds import feed_kinds
from tools.fuzz.feed import FeedTarget
from tools.fuzz.feed_messages import messages_of
from tools.fuzz.target import Violation
from tools.fuzz.trials import generate_round


def given(kind: str, *messages: str) -> bytes:
    return json.dumps({"kind": kind, "messages": list(messages)}).encode()


def test_made_messages_are_read_or_counted() -> None:
    with FeedTarget() as target:
        generate_round(target, target.check, inputs=20, seed=1)


@pytest.mark.parametrize("op", feed_kinds())
def test_messages_of_every_kind_are_read_or_counted(op: str) -> None:
    messages = messages_of(random.Random(2), op, 60)
    FeedTarget().check(given(op, *(message.decode("latin-1") for message in messages)))


def test_a_message_of_a_later_form_may_end_its_reader() -> None:
    FeedTarget().check(given("near", '{"v": 3, "op": "near"}'))


def test_the_messages_that_fail_a_reader_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    own = Ticks.read

    def read(self: Ticks, texts: Any) -> Iterator[Any]:
        if b"bad" in texts:
            raise KeyError("bad")
        return own(self, texts)

    monkeypatch.setattr(Ticks, "read", read)
    with pytest.raises(Violation, match="near: KeyError: 'bad'") as caught:
        FeedTarget().check(given("near", "{}", "bad", "[]"))
    assert json.loads(caught.value.given or b"")["messages"] == ["bad"]
