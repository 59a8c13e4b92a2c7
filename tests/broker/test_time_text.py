"""Times of records as text: any number is one."""

from __future__ import annotations

import pytest

from broker.time_text import page_date, page_time, time_text


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


@pytest.mark.parametrize(
    ("timestamp_ms", "said"),
    [
        (None, "none"),
        (-1, "none"),
        (0, "1970-01-01 00:00:00 UTC"),
        (1_795_700_535_999, "2026-11-26 13:42:15 UTC"),
        (2**63 - 1, f"{2**63 - 1} ms since 1970"),
    ],
)
def test_pages_have_times_in_one_form(timestamp_ms: int | None, said: str) -> None:
    assert page_time(timestamp_ms) == said


def test_a_date_of_any_offset_is_told_in_utc() -> None:
    assert page_date("2026-11-26T14:42:15.123+01:00") == page_date("2026-11-26T13:42:15Z") == "2026-11-26 13:42:15 UTC"
