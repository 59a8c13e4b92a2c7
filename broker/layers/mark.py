"""Marks of layers: the offsets up to which the topic of a layer was read for a version of the registry."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from broker.plans.offsets import Offsets

KEY_PREFIX = "layer/"
"""The prefix of a mark's key in the registry. Ids of queries contain no slash."""

_FORM = 1


@dataclass(frozen=True, slots=True)
class LayerMark:
    """The next offset of each partition of a layer's topic, and the topic's own id if Kafka provides one.

    The queries of a registry version always see the shapes before these offsets, and no later ones. The mark is written
    to the registry beside the queries, so one number, the registry's offset, identifies both.

    >>> LayerMark.of(LayerMark({0: 7}, "a").record())
    LayerMark(offsets={0: 7}, topic_id='a')
    """

    offsets: Offsets = field(default_factory=dict)
    topic_id: str | None = None

    def record(self) -> bytes:
        """Return the value of the mark's record in the registry."""
        plain = {"v": _FORM, "topic_id": self.topic_id, "offsets": self.offsets}
        return json.dumps(plain, separators=(",", ":")).encode()

    @classmethod
    def of(cls, value: bytes) -> LayerMark:
        """Return the mark in a record's value. If the value is unknown to this version, return a mark without offsets,
        so that the layer is read anew.
        """
        try:
            return cls.of_plain(json.loads(value))
        except (ValueError, RecursionError):
            return cls()

    @classmethod
    def of_plain(cls, plain: object) -> LayerMark:
        """Return the mark in a parsed value, as :meth:`of` does."""
        try:
            if not isinstance(plain, dict) or plain.get("v") != _FORM:
                return cls()
            offsets = {int(partition): int(offset) for partition, offset in plain["offsets"].items()}
            topic_id = plain.get("topic_id")
        except (ValueError, TypeError, KeyError, AttributeError):
            return cls()
        return cls(offsets, topic_id if isinstance(topic_id, str) else None)

    def reaches(self, offsets: Mapping[int, int]) -> bool:
        """Return whether the mark includes all records before ``offsets``."""
        return all(self.offsets.get(partition, 0) >= offset for partition, offset in offsets.items())
