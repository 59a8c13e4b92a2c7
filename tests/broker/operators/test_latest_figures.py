"""The figures of the last outputs of queries: by query, of whichever part it is in."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker.operators.latest_figures import LatestFigures


def test_figures_are_those_that_a_part_told_last(tmp_path: Path) -> None:
    latest = LatestFigures(tmp_path, ())
    assert latest.of("a") is None
    latest.keep({0: {"a": {"clusters": 3}, "b": {}}, 7: {"c": {"clusters": 1}}})
    assert (latest.of("a"), latest.of("b"), latest.of("c")) == ({"clusters": 3}, None, {"clusters": 1})
    # A query that was removed is of the part no more.
    latest.keep({0: {"b": {"clusters": 5}}})
    for own in (latest, LatestFigures(tmp_path, ())):
        assert (own.of("a"), own.of("b"), own.of("c")) == (None, {"clusters": 5}, {"clusters": 1})


def test_the_figures_that_a_kind_names_are_added_over_the_parts(tmp_path: Path) -> None:
    latest = LatestFigures(tmp_path, ("objects_inside",))
    latest.keep({0: {"a": {"objects_inside": 3, "end": 20}}, 7: {"a": {"objects_inside": 4, "end": 30}, "b": {}}})
    # The end of a window is a whole number as well, and is no sum.
    assert latest.of("a") == {"objects_inside": 7, "end": 20}
    latest.keep({0: {"a": {"objects_inside": 0}}})
    assert LatestFigures(tmp_path, ("objects_inside",)).of("a") == {"objects_inside": 4, "end": 30}


@pytest.mark.parametrize("text", ['{"0": 5}', '{"0": {"a": 5}}', "{"])
def test_a_damaged_file_has_no_figures(text: str, tmp_path: Path) -> None:
    (tmp_path / "latest.json").write_text(text, "utf-8")
    assert LatestFigures(tmp_path, ()).of("a") is None
