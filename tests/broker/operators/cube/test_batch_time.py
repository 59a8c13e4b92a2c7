"""Batches in event time."""

from __future__ import annotations

from broker.operators.cube.batch_time import BatchTime, Clock, first_open
from broker.operators.cube.coverage import BatchInterval


def batch(topic_id: str = "t", **ends: int) -> BatchInterval:
    own = {int(name[1:]): end for name, end in ends.items()}
    return BatchInterval(topic_id, {each: end - 1 for each, end in own.items()}, own)


def test_it_says_the_newest_time_of_a_partition_as_of_an_offset() -> None:
    clock = Clock().after(batch(p0=5, p1=5), {0: 130})
    assert clock.progress.mark_us == 130
    assert [clock.time_after(("t", 0), offset) for offset in (4, 5, 6)] == [130, 130, None]
    # Without a usable time nothing is known of a partition, though it was read.
    assert clock.time_after(("t", 1), 1) is None
    assert clock.after(batch(p1=9), {1: 140}).time_after(("t", 1), 8) == 140


def test_offsets_of_before_move_nothing() -> None:
    clock = Clock().after(batch(p0=5), {0: 130})
    again = clock.after(batch(p0=3), {0: 90})
    assert (again.progress.mark_us, again.time_after(("t", 0), 5)) == (130, 130)


def test_of_a_topic_made_again_the_former_one_has_had_its_last_record() -> None:
    clock = Clock().after(batch(p0=5), {0: 130}).after(batch("u", p0=1), {0: 150})
    assert [clock.time_after((topic, 0), 9) for topic in ("t", "u")] == [150, None]


def test_a_pane_is_final_when_the_watermark_is_its_end() -> None:
    assert [first_open(mark_us, 10, 60) for mark_us in (-51, -50, 69, 70, 129, 130)] == [-2, -1, 0, 1, 1, 2]
    before = Clock().after(batch(p0=1), {0: 70})
    batch_time = BatchTime(2, 10, before, before.after(batch(p0=2), {0: 130}))
    assert (batch_time.open_before(60), batch_time.open_after(60), batch_time.watermark_us) == (1, 2, 120)
    assert BatchTime(1, 10, Clock(), Clock()).watermark_us is None
