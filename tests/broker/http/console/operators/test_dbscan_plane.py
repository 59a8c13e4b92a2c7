"""The plane of a window: everything within it, equal scales, longitudes across the antimeridian."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from broker.http.console.operators.dbscan_plane import HEIGHT, WIDTH, Plane
from broker.http.console.operators.dbscan_window import LastWindow, SeenCluster, SeenWindow, Values

BOX = tuple[Values, Values]


def last_of(sample: Sequence[Values], boxes: Sequence[BOX] = ()) -> LastWindow:
    clusters = tuple(
        SeenCluster(label, f"1-{label}", 5, 5, None, box, ("appear",), ()) for label, box in enumerate(boxes)
    )
    window = SeenWindow((1, 10), False, False, len(clusters), len(sample), sample=tuple((own, -1) for own in sample))
    return LastWindow(window, clusters)


def plane_of(sample: Sequence[Values], boxes: Sequence[BOX] = (), *, is_position: bool = False) -> Plane:
    return Plane.of(last_of(sample, boxes), is_position=is_position)


def apart(plane: Plane, one: Values, other: Values) -> tuple[float, float]:
    (x1, y1), (x2, y2) = plane.place(one), plane.place(other)
    return x2 - x1, y1 - y2


def test_scales_are_equal_whatever_is_wide() -> None:
    for corner in ((4.0, 3.0), (40.0, 3.0), (4.0, 30.0)):
        plane = plane_of([(0.0, 0.0), corner])
        across, up = apart(plane, (1.0, 1.0), (2.0, 2.0))
        assert plane.is_equal
        assert math.isclose(across, up)
        assert math.isclose(plane.x.unit, across)
    plane = plane_of([(0.0, 0.0), (1_000.0, 1.0)])
    assert not plane.is_equal
    across, up = apart(plane, (0.0, 0.0), (1_000.0, 1.0))
    assert min(across, up) > 200


def test_a_degree_of_longitude_is_as_long_as_it_is_at_that_latitude() -> None:
    for south in (-60.0, 0.0, 46.0, 75.0):
        plane = plane_of([(7.0, south), (9.0, south + 1.0)], is_position=True)
        across, up = apart(plane, (7.0, south), (8.0, south + 1.0))
        assert math.isclose(across, up * math.cos(math.radians(south + 0.5)), rel_tol=1e-9)


def test_a_box_across_the_antimeridian_is_one_box() -> None:
    plane = plane_of([(179.5, 1.0), (-179.5, 1.0)], [((179.0, 0.0), (-179.0, 2.0))], is_position=True)
    box = plane.box((179.0, 0.0), (-179.0, 2.0))
    across, _ = apart(plane, (179.5, 1.0), (-179.5, 1.0))
    assert math.isclose(box.width - 4, 2 * across)
    assert box.x < plane.place((179.5, 1.0))[0] < plane.place((-179.5, 1.0))[0] < box.x + box.width
    assert plane.x.high == 181.0
    # One that goes the other way round is nearly all of the earth.
    wide = plane_of([], [((-179.0, 0.0), (179.0, 2.0))], is_position=True)
    assert (wide.x.low, wide.x.high) == (-179.0, 179.0)


def test_points_of_one_place_and_of_one_attribute_have_a_place() -> None:
    for sample in ([(7.5, 46.0)], [(7.5, 46.0)] * 200, [(7.5,)], [(1e308,)], [(-0.1, 0.0), (-0.1, 0.0)]):
        for is_position in (False, True):
            if is_position and len(sample[0]) == 1:
                continue
            x, y = plane_of(sample, is_position=is_position).place(sample[0])
            assert 0 < x < WIDTH
            assert 0 < y < HEIGHT
    line = plane_of([(1.0,), (2.0,), (3.0,)])
    assert len({line.place((value,))[0] for value in (1.0, 2.0, 3.0)}) == 3
    assert line.is_equal


numbers = st.floats(allow_nan=False, allow_infinity=False)
degrees = st.tuples(st.floats(-180, 180), st.floats(-90, 90))


@given(
    st.lists(st.tuples(numbers, numbers), max_size=8),
    st.lists(st.tuples(numbers, numbers, numbers, numbers), max_size=3),
)
def test_every_place_of_numbers_is_within(sample: list[Values], corners: list[tuple[float, ...]]) -> None:
    boxes: list[BOX] = [((min(a, c), min(b, d)), (max(a, c), max(b, d))) for a, b, c, d in corners]
    all_within(plane_of(sample, boxes), sample, boxes)


@given(st.lists(degrees, max_size=8), st.lists(st.tuples(degrees, degrees), max_size=3))
def test_every_place_of_degrees_is_within(sample: list[Values], corners: list[BOX]) -> None:
    boxes: list[BOX] = [((a[0], min(a[1], b[1])), (b[0], max(a[1], b[1]))) for a, b in corners]
    all_within(plane_of(sample, boxes, is_position=True), sample, boxes)


def all_within(plane: Plane, sample: Sequence[Values], boxes: Sequence[BOX]) -> None:
    for x, y in map(plane.place, sample):
        assert 8 <= x <= WIDTH - 8
        assert 8 <= y <= HEIGHT - 8
    for box in (plane.box(*own) for own in boxes):
        assert 8 <= box.x <= box.x + box.width <= WIDTH - 8
        assert 8 <= box.y <= box.y + box.height <= HEIGHT - 8
