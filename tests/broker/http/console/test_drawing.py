"""Parts of charts: where shares of a plane are drawn."""

from __future__ import annotations

import pytest

from broker.http.console.drawing import HEIGHT, WIDTH, ends, line, rounded_up, rule, span, x_of, y_of


def test_a_plane_goes_to_the_right_and_upwards_within_its_picture() -> None:
    assert 0 < x_of(0) < x_of(0.5) < x_of(1) < WIDTH
    assert HEIGHT > y_of(0) > y_of(0.5) > y_of(1) > 0


def test_one_point_is_a_circle_and_several_are_a_line() -> None:
    assert str(line(1, [(0.5, 0.5)])).startswith('<circle class="point point-1" cx="334.0" cy="64.0"')
    assert str(line(0, [(0, 0), (1, 1)])) == '<polyline class="line line-0" points="76.0,118.0 592.0,10.0"/>'


def test_a_shade_is_seen_however_short_it_is() -> None:
    assert 'width="1.0"' in span(0.5, 0.5)
    assert 'x="76.0"' in span(0, 1)


def test_labels_are_text() -> None:
    assert "&lt;b&gt;" in rule(0.5, "<b>")
    assert ends("<a", "b", "c").count("<text") == 3


@pytest.mark.parametrize(("most", "bound"), [(0.0, 1.0), (1.0, 1.0), (1.1, 2.0), (5.0, 5.0), (7.0, 10.0), (0.03, 0.05)])
def test_bounds_are_round(most: float, bound: float) -> None:
    assert rounded_up(most) == bound
