"""The rule by which shards are split and merged."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from asc.operators.cube.shard_rule import SPLIT_CELLS, SPLIT_SHARE, ShardLoad, ShardRule
from asc.operators.cube.shards import SHARDS_MOST, Shards

LARGE = ShardLoad(SPLIT_CELLS + 1)
QUARTER = SPLIT_CELLS // 4


def run(
    checks: list[dict[int, ShardLoad]],
    lags: list[int | None] | None = None,
    shards: Shards | None = None,
    most: int = 64,
) -> list[tuple[int, ...]]:
    """Return the shards after each check. A shard without a load is empty."""
    rule, found = ShardRule(), []
    shards = shards or Shards()
    for number, loads in enumerate(checks):
        own = {each: loads.get(each, ShardLoad()) for each in shards.numbers}
        rule, shards = rule.after(shards, own, lags[number] if lags else None, most)
        found.append(shards.numbers)
    return found


def test_a_shard_is_split_at_the_fourth_check_in_a_row() -> None:
    for load in (LARGE, ShardLoad(share=SPLIT_SHARE + 0.01)):
        assert run([{1: load}] * 4) == [(1,), (1,), (1,), (2, 3)]
        assert run([{1: load}, {1: load}, {1: load}, {}, {1: load}]) == [(1,)] * 5
    assert run([{1: ShardLoad(SPLIT_CELLS, SPLIT_SHARE)}] * 9) == [(1,)] * 9


def test_lag_that_grows_splits_a_shard_of_half_a_threshold_alone() -> None:
    lags: list[int | None] = [10, 11, 12, 13, 14]
    for load in (ShardLoad(SPLIT_CELLS // 2), ShardLoad(share=SPLIT_SHARE / 2)):
        assert run([{1: load}] * 5, lags)[3:] == [(1,), (2, 3)]
        assert run([{1: load}] * 5, [10, 11, 11, 12, 13])[-1] == (1,)
        assert run([{1: load}] * 5, [10, 11, None, 12, 13])[-1] == (1,)
    assert run([{1: ShardLoad(SPLIT_CELLS // 2 - 1, SPLIT_SHARE / 2 - 0.01)}] * 5, lags)[-1] == (1,)


def test_two_small_halves_are_merged_at_the_fourth_check_in_a_row_unless_the_lag_grows() -> None:
    two = Shards.of([2, 3])
    small = {2: ShardLoad(QUARTER - 1, 0.12), 3: ShardLoad()}
    assert run([small] * 4, shards=two) == [(2, 3)] * 3 + [(1,)]
    assert run([small] * 4, [1, 2, 3, 4], two)[-1] == (2, 3)
    for load in (ShardLoad(QUARTER), ShardLoad(share=SPLIT_SHARE / 4)):
        assert run([{2: ShardLoad(), 3: load}] * 9, shards=two)[-1] == (2, 3)


def test_after_a_change_four_checks_pass_without_another() -> None:
    large = dict.fromkeys((1, 2, 3, 4, 5), LARGE)
    sizes = [len(numbers) for numbers in run([large] * 14)]
    assert sizes == [1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4]


def test_the_largest_shard_is_split_first_and_the_smallest_two_are_merged_first() -> None:
    four = Shards.of([4, 5, 6, 7])
    large = {4: LARGE, 6: ShardLoad(SPLIT_CELLS + 9)}
    assert run([large] * 4, shards=four)[-1] == (4, 5, 12, 13, 7)
    small = dict.fromkeys((4, 5, 6), ShardLoad(9)) | {7: ShardLoad(8)}
    assert run([small] * 4, shards=four)[-1] == (4, 5, 3)


def test_beyond_the_limit_shards_are_merged_whatever_their_load() -> None:
    large = dict.fromkeys(range(1, 16), LARGE)
    found = run([large] * 20, shards=Shards.of([4, 5, 6, 7]), most=2)
    assert [len(numbers) for numbers in found] == [3, 3, 3, 3, 3] + [2] * 15
    assert len(run([large] * 900, most=3)[-1]) == 3


weights = st.lists(st.tuples(st.integers(0, 4095), st.integers(1, 400_000)), min_size=1, max_size=12)


@given(
    own=weights, shares=st.floats(0, 8), most=st.integers(1, SHARDS_MOST), moves=st.lists(st.integers(0, 9), max_size=9)
)
def test_a_constant_load_changes_the_shards_a_bounded_number_of_times(
    own: list[tuple[int, int]], shares: float, most: int, moves: list[int]
) -> None:
    """Loads are sums over the places of a shard: whatever shards there were, changes end, and then none is due."""
    total = sum(cells for _, cells in own)

    def load(number: int) -> ShardLoad:
        bits = number.bit_length() - 1
        cells = sum(size for place, size in own if place >> (12 - bits) == number - (1 << bits))
        return ShardLoad(cells, shares * cells / total)

    shards = Shards()
    for move in moves:
        number = shards.numbers[move % len(shards)]
        if len(shards) < most:
            shards = shards.split(number)
    rule, changes, last = ShardRule(), [], 0
    for check in range(5 * 4 * SHARDS_MOST):
        before = shards
        rule, shards = rule.after(shards, {each: load(each) for each in shards.numbers}, 0, most)
        assert 1 <= len(shards) <= max(most, len(before))
        if shards is not before:
            assert not changes or check - last > 4
            changes.append(len(shards) > len(before))
            last = check
    assert len(changes) <= 2 * SHARDS_MOST
    assert check - last > 4
    # The rule does not merge shards that it has split: it merges the first shards alone.
    assert sum(not is_split for is_split in changes) <= 9
