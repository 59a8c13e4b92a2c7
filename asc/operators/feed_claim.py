"""Claims of a feed: after a claim, readers ignore the messages of every writer but the claim's writer.

A suspended daemon may resume writing long after another daemon has replaced it. It would write outdated settings, and
observations of times that are final. So each message names its writer, and a claim in a partition says whose messages
count from there on. A reader of the feed therefore needs neither a clock nor a number that grows with each new writer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator

from asc.operators.exclusions import FeedCounts
from asc.operators.feed import FORM, TIME_KEY, WRITER, Message, QuerySettings, messages_of

_CLAIM = "claim"


def claim_of(writer: str) -> str:
    """Return the text of a message by which a writer claims a partition. A reader that does not know claims reads the
    message as watermarks without any entry.

    >>> claim_of("a7")
    '{"v":2,"w":"a7","claim":true,"time":{}}'
    """
    return json.dumps({"v": FORM, WRITER: writer, _CLAIM: True, TIME_KEY: {}}, separators=(",", ":"))


class ClaimedFeed:
    """The reader of one partition of a feed for one kind of operator: it ignores the messages of replaced writers.

    ``writer``: the writer of the last claim; None before the first claim, when all messages count. Invariant: the
    messages and the writer are a function of the texts in their order, however the texts are split into calls of
    :meth:`messages`.
    """

    def __init__(self, op: str, query_of: Callable[[QuerySettings], object], writer: str | None = None) -> None:
        self._op = op
        self._query_of = query_of
        self.writer = writer

    def messages(self, texts: Iterable[str | bytes], counts: FeedCounts) -> Iterator[Message]:
        """Yield from the next texts the messages of the writer of the last claim. Count unreadable messages and
        messages of other writers as excluded in ``counts``. Do not count claims.

        Raise FeedFormError if a later version wrote a message.
        """
        for text in texts:
            try:
                plain = json.loads(text)
                messages = messages_of(plain, self._op, self._query_of)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                counts.excluded["unreadable"] += 1
                continue
            writer = plain.get(WRITER)
            if plain.get(_CLAIM) is True and isinstance(writer, str):
                self.writer = writer
            elif self.writer is None or writer == self.writer:
                yield from messages
            else:
                counts.excluded["replaced_writer"] += 1
