"""Panes and their runs."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from broker.operators.cube.panes import _LEAF_PANES, ClosedPanes, Panes, StoredPiece, sound


def piece(number: int, pane: int, cells: int = 10) -> StoredPiece:
    return StoredPiece(number, pane, cells, 100 * cells, 0)


def numbers(panes: Panes) -> list[list[int]]:
    return [[own.number for pieces in run for own in pieces] for run in panes.closed.runs()]


def test_pieces_are_by_pane_in_the_order_of_their_numbers() -> None:
    panes = Panes.of([piece(1, 7), piece(2, 3), piece(3, 7)], 5)
    assert {pane: [own.number for own in pieces] for pane, pieces in panes.open.items()} == {7: [1, 3]}
    assert {pane: [own.number for own in pieces] for pane, pieces in panes.closed.items()} == {3: [2]}
    assert (panes.cells, panes.size_bytes, [own.number for own in panes.pieces()]) == (30, 3_000, [2, 1, 3])


def test_a_change_of_open_panes_shares_the_closed_ones() -> None:
    panes = Panes.of([piece(1, 1), piece(2, 8)], 5)
    same = panes.changed({8: (piece(2, 8), piece(3, 8, 5))}, 5)
    assert same.closed is panes.closed
    assert (same.cells, same.size_bytes) == (25, 2_500)
    closed = same.changed({8: (piece(4, 8, 12),)}, 9)
    assert (sorted(closed.closed), dict(closed.open), closed.cells) == ([1, 8], {}, 22)
    assert sorted(panes.closed) == [1]


def test_a_pane_more_changes_the_last_run_alone() -> None:
    panes = Panes.of([piece(each, each) for each in range(1, 131)], 1_000)
    assert [len(run) for run in panes.closed.runs()] == [63, 64, 3]
    more = panes.changed({131: (piece(131, 131),)}, 1_000)
    assert numbers(more)[:2] == numbers(panes)[:2]
    assert numbers(more)[2] == [128, 129, 130, 131]


def test_a_run_has_few_cells_or_one_pane() -> None:
    panes = Panes.of([piece(0, 0, 150_000), piece(1, 1, 60_000), piece(2, 2, 900_000), piece(3, 3, 1)], 9)
    assert numbers(panes) == [[0], [1], [2], [3]]


def test_damaged_pieces_are_kept_and_not_read() -> None:
    panes = Panes.of([piece(1, 1), piece(2, 2), piece(3, 8)], 5).with_damage([piece(2, 2), piece(3, 8)])
    assert numbers(panes) == [[1]]
    assert [own.number for own in panes.pieces() if own.is_damaged] == [2, 3]
    assert sound(panes.open[8]) == ()
    cleared = panes.without_damage()
    assert (sorted(cleared.closed), dict(cleared.open), cleared.cells) == ([1], {}, 10)


def closed(panes: dict[int, StoredPiece]) -> ClosedPanes:
    return ClosedPanes().changed({pane: (own,) for pane, own in panes.items()})


@settings(max_examples=60, deadline=None)
@given(
    steps=st.lists(st.sets(st.integers(-3_000, 3_000), max_size=900), max_size=5),
    bounds=st.tuples(st.integers(-3_100, 3_100), st.integers(-3_100, 3_100)),
)
def test_closed_panes_are_the_same_however_they_came(steps: list[set[int]], bounds: tuple[int, int]) -> None:
    found, model = ClosedPanes(), dict[int, StoredPiece]()
    for number, panes in enumerate(steps):
        own = {pane: piece(number * 10_000 + pane, pane) for pane in panes}
        model.update(own)
        found = found.changed({pane: (each,) for pane, each in own.items()})
    assert {pane: own for pane, (own,) in found.items()} == model
    assert (list(found), len(found)) == (sorted(model), len(model))
    assert list(found.runs()) == list(closed(model).runs())
    first, end = bounds
    met = [run for run in found.runs() if run[0][0].pane < end and first <= run[-1][0].pane]
    assert list(found.runs(first, end)) == met
    assert found.following(first) == min((pane for pane in model if pane >= first), default=None)
    assert found.following(None) == min(model, default=None)


def test_a_change_copies_the_leaves_of_its_panes_alone() -> None:
    panes = closed({pane: piece(pane, pane) for pane in range(0, 100_000, 3)})
    for pane in (100_000, -5, 50_000):
        after = panes.changed({pane: (piece(1, pane),)})
        assert len(set(map(id, after.leaves)) - set(map(id, panes.leaves))) <= 2
        assert after[pane] == (piece(1, pane),)


def test_panes_that_come_backwards_fill_their_leaves() -> None:
    panes, count = ClosedPanes(), 20_000
    for pane in range(0, -100 * count, -100):
        panes = panes.changed({pane: (piece(1, pane),)})
    assert len(panes.leaves) < 3 * count / _LEAF_PANES
    assert max(len(leaf.panes) for leaf in panes.leaves) <= _LEAF_PANES


def test_a_pane_whose_pieces_are_all_damaged_is_none_to_go_on_with() -> None:
    panes = Panes.of([piece(1, 1), piece(2, 900), piece(3, 2_000)], 3_000).with_damage([piece(2, 900)])
    assert (panes.closed.following(2), panes.closed.following(2_001), len(panes.closed)) == (2_000, None, 3)
