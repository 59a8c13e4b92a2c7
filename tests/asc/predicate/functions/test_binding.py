"""Values that are named in a text."""

from __future__ import annotations

from asc.predicate.functions.binding import bound, bound_together, names, unused_name


def test_a_value_stands_once() -> None:
    assert bound("xs || ys", "p[0] + p[1]", "p_") == "transform(array(xs || ys), p_ -> p[0] + p[1])[0]"
    assert bound_together(["f(x)", "y"], "p.a + p.b + p.a").count("f(x)") == 1


def test_names_are_all_different() -> None:
    assert names(3) == ["a", "b", "c"]
    assert len(set(names(100))) == 100


def test_an_unused_name_is_no_word_of_the_text() -> None:
    assert unused_name("x -> x + 1") == "p"
    assert unused_name("P -> `p_` + 1") == "p__"
