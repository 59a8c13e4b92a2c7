"""The position up to which the topic of a layer was read for a version of the registry."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from broker.plans.offsets import Offsets

KEY_PREFIX = "layer/"
"""Of a mark's record in the registry; no id of a query has a slash."""

_FORM = 1


@dataclass(frozen=True, slots=True)
class LayerMark:
    """The next offset of each partition of a layer's topic, and the topic's own id, where Kafka gives it.

    The queries of a version of the registry have the shapes before these offsets, and no later one, whenever they are
    read again. Written to the registry beside the queries, so that one number, the registry's offset, names both.

    >>> LayerMark.of(LayerMark({0: 7}, "a").record())
    LayerMark(offsets={0: 7}, topic_id='a')
    """

    offsets: Offsets = field(default_factory=dict)
    topic_id: str | None = None

    def record(self) -> bytes:
        """Return its value in the registry."""
        plain = {"v": _FORM, "topic_id": self.topic_id, "offsets": self.offsets}
        return json.dumps(plain, separators=(",", ":")).encode()

    @classmethod
    def of(cls, value: bytes) -> LayerMark:
        """Return the mark of a record; one of no offsets where it is none that is known here: the layer is read anew
        then.
        """
        try:
            return cls.of_plain(json.loads(value))
        except (ValueError, RecursionError):
            return cls()

    @classmethod
    def of_plain(cls, plain: object) -> LayerMark:
        """Return the mark of :meth:`of` from a parsed value."""
        try:
            if not isinstance(plain, dict) or plain.get("v") != _FORM:
                return cls()
            offsets = {int(partition): int(offset) for partition, offset in plain["offsets"].items()}
            topic_id = plain.get("topic_id")
        except (ValueError, TypeError, KeyError, AttributeError):
            return cls()
        return cls(offsets, topic_id if isinstance(topic_id, str) else None)

    def reaches(self, offsets: Mapping[int, int]) -> bool:
        """Return whether what was written before some offsets is in it."""
        return all(self.offsets.get(partition, 0) >= offset for partition, offset in offsets.items())
