"""Bands of a changed definition that fit no order with the stored ones."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.errors import CubeError
from asc.operators.cube.keep import bands_of
from asc.operators.cube.view import View
from broker.operators.cube.ageing import with_bands
from broker.operators.cube.band_fit import ageing_problem, check_fit, unfit
from broker.operators.cube.coverage import Coverage
from broker.operators.cube.cube_state import CubeState
from broker.operators.cube.panes import Panes, StoredPiece
from broker.operators.cube.stored_view import StoredView
from tests.broker.operators.cube.kept_stream import at, batch, minute, opened
from tests.broker.operators.cube.test_ageing import MINUTE, aged
from tests.broker.operators.cube.view_rig import CUBE, OWN, answer, state_of

LEVELS = ["", " carrier:0", " dest:0", " carrier:0 dest:0"]
GRAINS = [1, 2, 3, 4, 6, 8, 12, 24, 48]
STORED = ["1min:60min", "6min:180min"]


@st.composite
def keeps(draw: st.DrawFn) -> list[str]:
    texts = draw(st.lists(st.builds("{}min{}".format, st.sampled_from(GRAINS), st.sampled_from(LEVELS)), max_size=4))
    found = ["1min:60min"]
    for number, text in enumerate(sorted(texts, key=lambda own: int(own.split("min")[0]))):
        grain, levels = text.split("min")
        try:
            bands_of([*found, wanted := f"{grain}min:{120 + 60 * number}min{levels}"], OWN)
        except CubeError:
            continue
        found.append(wanted)
    return found


def holding(*keep: str) -> CubeState:
    """Return a cube with a piece in each band of a definition after the first."""
    piece = StoredPiece(1, 0, 1, 1, 0)
    views = [StoredView.of(each, band.view, "band", [piece], 1) for each, band in enumerate(bands_of(keep, OWN)[1:])]
    none = Coverage({})
    return CubeState(CUBE, 1, OWN, None, Panes.none(), none, none, (), {}, bands=tuple(views))


@given(keeps(), keeps())
def test_bands_are_refused_if_no_pane_would_age_and_those_that_the_error_names_fit(
    stored: list[str], wanted: list[str]
) -> None:
    state, bands = holding(*stored), bands_of(wanted, OWN)
    views = [band.view for band in bands[1:]]
    fits = all(
        wanted_view.is_finer(band.view) or band.view.is_finer(wanted_view)
        for band in state.bands
        for wanted_view in views
    )
    assert (unfit(state, bands) is None) == (ageing_problem(state, bands) is None) == fits
    if fits:
        check_fit(state, bands)
        merged = [band.view if isinstance(band, StoredView) else band for band in with_bands(state.bands, bands[1:])]
        assert {*merged} == {*views, *(band.view for band in state.bands)}
        assert all(finer.is_finer(coarser) for finer, coarser in pairwise(merged))
        return
    with pytest.raises(CubeError) as caught:
        check_fit(state, bands)
    found = re.search(r": give (\[.*\]), or remove", str(caught.value))
    assert found is not None
    check_fit(state, bands_of(json.loads(found[1]), OWN))


def test_the_error_names_the_stored_band_and_bands_that_fit(tmp_path: Path) -> None:
    keeper, _ = aged(tmp_path, *STORED)
    state = state_of(keeper)
    with pytest.raises(CubeError) as caught:
        check_fit(state, bands_of(["1min:60min", "8min:180min"], OWN))
    assert str(caught.value) == (
        f"keep '8min:3h': does not fit the older panes, which are stored as carrier, dest at 6min before {minute(180)}:"
        ' give ["1min:1h", "6min:3h"], or remove the query and register it again, which deletes its cells'
    )


def test_a_cube_whose_panes_cannot_age_says_so(tmp_path: Path) -> None:
    keeper, topic = aged(tmp_path, *STORED)
    assert keeper.bands.problem(CUBE) is None
    keeper.bands.define(CUBE, bands_of(["1min:60min", "8min:180min"], OWN))
    assert keeper.bands.problem(CUBE) == (
        f"the band 8min:3h does not fit the older panes, which are stored as carrier, dest at 6min before {minute(180)}"
    )
    topic.partitions[0] += [at(400)]
    topic.commit(keeper, batch(482, 483), {CUBE: OWN})
    keeper.bands.age(10)
    assert state_of(keeper).base_from == MINUTE + 180
    assert answer(keeper, by=[])["rows"][0]["n"] == 362
    keeper.bands.define(CUBE, bands_of(["1min:60min", "6min:180min"], OWN))
    keeper.bands.age(10)
    assert keeper.bands.problem(CUBE) is None
    assert state_of(keeper).base_from == MINUTE + 336


def test_stored_bands_without_panes_hinder_no_other(tmp_path: Path) -> None:
    keeper, _ = aged(tmp_path, "1min:60min", "6min:180min", minutes=30)
    check_fit(state_of(keeper), bands_of(["1min:60min", "8min:180min"], OWN))
    keeper.close()
    assert opened(tmp_path).snapshot.cube(CUBE).bands[0].view == View((1, 1), 6)
