"""What second queries have in common in Spark's workers."""

from __future__ import annotations

import pyarrow as pa

from broker.operators.feed_task import FeedTally, packed


def test_the_records_of_a_task_are_one_row_a_bucket_in_the_order_of_the_feed() -> None:
    schema = pa.schema([("bucket", pa.int32()), ("offset", pa.int64()), ("message", pa.binary())])
    rows = [(1, 7, b"b"), (2, 3, b"x"), (1, 6, b"a"), (1, 8, None), (2, 4, b"y")]
    batches = [
        pa.record_batch(list(map(list, zip(*part, strict=True))), schema=schema) for part in (rows[:2], rows[2:])
    ]
    (found,) = packed(iter(batches))
    messages = dict(zip(found["bucket"].to_pylist(), found["messages"].to_pylist(), strict=True))
    assert messages == {1: [b"a", b"b"], 2: [b"x", b"y"]}
    assert list(packed(iter([pa.record_batch([[], [], []], schema=schema)]))) == []
    assert list(packed(iter([]))) == []


def test_tallies_add_up_but_for_what_is_held() -> None:
    first = FeedTally({0: 2, 1: 5}, 7, {"key": 1}, {"enter": 2})
    assert first.merged(FeedTally({1: 4}, 1, {"key": 1, "late": 2})) == FeedTally(
        {0: 2, 1: 4}, 8, {"key": 2, "late": 2}, {"enter": 2}
    )
