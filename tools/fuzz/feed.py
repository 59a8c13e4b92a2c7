"""Fuzzing of the readers of a feed. A reader must either process a message or count it as unreadable, whatever the
message contains.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from asc.errors import FeedFormError
from broker.operators.kinds import feed_kinds
from tools.fuzz.feed_messages import messages_of
from tools.fuzz.target import Target, Violation
from tools.fuzz.trials import one_line

if TYPE_CHECKING:
    from typing_extensions import Self

_MESSAGES = 60
_WARM_INPUTS = 5


class FeedTarget(Target):
    """Target whose inputs are messages for a kind with the handoff ``feed``: JSON objects with an operator, and texts
    that represent bytes, one per character.

    Invariant: a reader fails only on a message that has a later form than the reader knows. It counts at most as many
    unreadable messages as there are messages. Outputs are JSON in UTF-8, and do not depend on whether the state is
    stored between two messages.
    """

    name: ClassVar[str] = "feed"
    input_s = 10.0
    growth_mb = 64
    is_shrunk = False

    def __enter__(self) -> Self:
        # Numba compiles kernels on first use. This time must not count for an input.
        for op in feed_kinds():
            for seed in range(_WARM_INPUTS):
                _check(op, messages_of(random.Random(seed), op, _MESSAGES))
        return self

    def inputs(self) -> SearchStrategy[bytes]:
        """See :class:`Target`."""
        drawn = st.tuples(st.sampled_from(sorted(feed_kinds())), st.integers(0, 2**64 - 1))
        return drawn.map(lambda each: _encoded(each[0], messages_of(random.Random(each[1]), each[0], _MESSAGES)))

    def check(self, given: bytes) -> None:
        """See :class:`Target`."""
        plain = json.loads(given)
        op, messages = plain["kind"], [text.encode("latin-1") for text in plain["messages"]]
        try:
            _check(op, messages)
        except Exception as error:
            raise Violation(f"{op}: {one_line(error)}", _encoded(op, _fewest(op, messages))) from error


def _check(op: str, messages: Sequence[bytes]) -> None:
    try:
        outputs, unreadable = _read(op, messages, ())
    except FeedFormError:
        if not any(_is_of_a_later_form(message) for message in messages):
            raise
        return
    if unreadable > len(messages):
        raise Violation(f"{unreadable} of {len(messages)} messages are unreadable")
    for output in outputs:
        json.loads(output.value.encode())
    cuts = range(1, len(messages), 7)
    if _read(op, messages, cuts)[0] != outputs:
        raise Violation("outputs are others where the state is stored in between")


def _read(op: str, messages: Sequence[bytes], cuts: Sequence[int]) -> tuple[list[Any], int]:
    kind = feed_kinds()[op]
    part, outputs, unreadable = kind.part(None), list[Any](), 0
    for low, high in zip([0, *cuts], [*cuts, len(messages)], strict=True):
        outputs += part.read(messages[low:high])
        unreadable += part.counts.excluded["unreadable"]
        part = kind.part(part.to_bytes())
    return outputs, unreadable


def _is_of_a_later_form(message: bytes) -> bool:
    try:
        form = json.loads(message)["v"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
    return type(form) is int and form > 2


def _fewest(op: str, messages: Sequence[bytes]) -> list[bytes]:
    """Return a subset of the messages that still violates the invariant. Remove each message without which the
    violation still occurs.
    """
    kept = list(messages)
    for message in list(messages):
        fewer = list(kept)
        fewer.remove(message)
        try:
            _check(op, fewer)
        except Exception:
            kept = fewer
    return kept


def _encoded(op: str, messages: Sequence[bytes]) -> bytes:
    return json.dumps({"kind": op, "messages": [message.decode("latin-1") for message in messages]}).encode()
