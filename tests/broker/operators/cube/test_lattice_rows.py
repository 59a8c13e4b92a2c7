"""The lattice of a cube as people read it."""

from __future__ import annotations

from pathlib import Path

from asc.operators.cube.keep import bands_of
from asc.operators.cube.view import View
from broker.operators.cube.lattice_rows import ROWS_SHOWN
from tests.broker.operators.cube.kept_stream import minute
from tests.broker.operators.cube.view_rig import CUBE, OWN, answer, filled, state_of


def test_stored_views_come_first_then_the_most_demanded_ones(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path, View((1, 0), 60))
    for _ in range(3):
        answer(keeper, by=["dest"], **{"from": minute(0), "to": minute(60)})
    keeper.views.choose(CUBE, [View((0, 0), 60)])
    found = keeper.choice.lattice(CUBE)
    assert (found["id"], found["count"]) == ("q", 4 * len(keeper.demands.lattice(state_of(keeper)).lengths))
    base, pinned, chosen, demanded, *others = found["views"]
    body = {"cuboid": ["carrier", "dest"], "grain_s": 60}
    # The newest pane is open, and has cells.
    assert base == {
        **body,
        **{"role": "base", "cells": 242, "bytes": state_of(keeper).panes.size_bytes, "is_estimated": False},
        **{"asked_an_hour": 0.0, "complete_to": minute(120), "answered_from": body},
    }
    own = {"cuboid": ["carrier"], "grain_s": 3_600}
    assert pinned | {"bytes": 0} == {
        **own,
        **{"role": "pinned", "cells": 4, "bytes": 0, "is_estimated": False},
        **{"asked_an_hour": 0.0, "complete_to": minute(120), "answered_from": own},
    }
    # A view that is not filled yet is answered from another one.
    assert (chosen["role"], chosen["cells"], chosen["complete_to"], chosen["answered_from"]) == ("chosen", 0, None, own)
    assert demanded | {"bytes": 0} == {
        **{"cuboid": ["dest"], "grain_s": 3_600, "role": "none", "cells": 2, "bytes": 0, "is_estimated": True},
        **{"asked_an_hour": 3.0, "complete_to": None, "answered_from": body},
    }
    assert len(others) < ROWS_SHOWN
    assert [own["cells"] for own in others] == sorted(own["cells"] for own in others)
    assert len({(*own["cuboid"], own["grain_s"]) for own in found["views"]}) == len(found["views"])


def test_bands_are_in_the_list_and_in_the_status(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path)
    keeper.bands.define(CUBE, bands_of(["1min:60min", "1h:90min dest:0"], OWN))
    keeper.bands.age(10)
    found = keeper.choice.lattice(CUBE)["views"]
    (band,) = [own for own in found if own["role"] == "band"]
    assert (band["cuboid"], band["grain_s"], band["complete_to"]) == (["carrier"], 3_600, minute(60))
    status = keeper.snapshot.status(CUBE)
    (shown,) = status["bands"]
    assert shown == {"view": "carrier at 1h", "cells": 2, "bytes": band["bytes"], "to": minute(60)}
    assert (status["views"], status["view_cells"], status["kept_from"]) == (0, 0, minute(0))


def test_a_cube_without_records_has_a_lattice(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path, minutes=1)
    found = keeper.choice.lattice(CUBE)["views"]
    assert found[0]["role"] == "base"
    assert {own["cells"] for own in found[1:]} == {0}
