"""Steps: one level of one dimension at a time, on either axis."""

from __future__ import annotations

from asc.operators.cube.cuboid import Dimensions
from broker.http.console.operators.cube_address import View
from broker.http.console.operators.cube_steps import drill_downs, out_of_slices, roll_ups

DIMENSIONS = Dimensions((("a", "b"), ("c",)))


def texts(view: View) -> tuple[list[str], list[str]]:
    return [own.text for own in roll_ups(view, "q", DIMENSIONS)], [
        own.text for own in drill_downs(view, "q", DIMENSIONS)
    ]


def test_rows_and_columns_go_up_and_down() -> None:
    assert texts(View(by=["a"])) == (["a to all"], ["a to b", "by c"])
    assert texts(View(by=["b"], across="c")) == (["b to a", "c to all"], [])
    assert texts(View(by=["c"], across="a")) == (["a to all", "c to all"], ["a to b"])
    assert texts(View(by=[])) == ([], ["by a", "by c"])
    assert texts(View(by=["nothing"])) == ([], [])


def test_a_step_keeps_the_slices_and_the_measure() -> None:
    view = View(by=["b"], across="c", where=["c = 1"], measure="n")
    up, across = roll_ups(view, "q", DIMENSIONS)
    assert up.link == "/console/cubes/q?by=a&where=c+%3D+1&across=c&measure=n"
    assert across.link == "/console/cubes/q?by=b&where=c+%3D+1&measure=n"


def test_each_slice_can_be_left_out() -> None:
    view = View(by=["a"], where=["c = 1", "a IS NULL"])
    assert [(own.text, own.link) for own in out_of_slices(view, "q")] == [
        ("c = 1", "/console/cubes/q?by=a&where=a+IS+NULL"),
        ("a IS NULL", "/console/cubes/q?by=a&where=c+%3D+1"),
    ]
