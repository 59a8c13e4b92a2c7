"""What topics of the daemon's state are made with."""

from __future__ import annotations

from broker.kafka.retention import KEPT, RETENTION_MS, RETENTION_SETTINGS


def test_a_week_is_kept_of_what_is_compacted() -> None:
    week_ms = 7 * 24 * 3600 * 1000
    assert week_ms == RETENTION_MS
    assert dict(KEPT) == {
        "cleanup.policy": "compact",
        "min.compaction.lag.ms": str(week_ms),
        "delete.retention.ms": str(week_ms),
    }
    assert set(RETENTION_SETTINGS) < set(KEPT)
