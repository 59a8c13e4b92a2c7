"""The topic settings by which Kafka retains superseded records in the topics that hold the daemon's state."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

RETENTION_MS = 7 * 24 * 3600 * 1000
"""The time in milliseconds for which the topic keeps a record that a later record with the same key replaces. After a
crash, a start within this time can replay the batch that was running.
"""

COMPACTED: Mapping[str, str] = MappingProxyType({"cleanup.policy": "compact"})
"""The settings of a topic that keeps only the last record of each key."""

RETENTION_SETTINGS = ("min.compaction.lag.ms", "delete.retention.ms")

KEPT: Mapping[str, str] = MappingProxyType({**COMPACTED, **dict.fromkeys(RETENTION_SETTINGS, str(RETENTION_MS))})
"""The settings of a compacted topic that keeps superseded records for the retention time."""
