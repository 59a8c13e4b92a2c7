"""Times of records as text: any number is one."""

from __future__ import annotations

import pytest

from broker.time_text import time_text


@pytest.mark.parametrize(
    ("timestamp_ms", "said"),
    [
        (None, "none"),
        (-(2**63), "none"),
        (0, "1970-01-01T00:00:00.000Z"),
        (253_402_300_799_000, "9999-12-31T23:59:59.000Z"),
        (253_402_300_800_000, "253402300800000 ms since 1970"),
        (2**63 - 1, f"{2**63 - 1} ms since 1970"),
    ],
)
def test_any_time_is_told(timestamp_ms: int | None, said: str) -> None:
    assert time_text(timestamp_ms) == said
