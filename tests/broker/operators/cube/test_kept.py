"""What answers say of the state of a cube: what its keeper says, and no more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from broker.operators.cube.kept import CubeKept
from broker.operators.kept_body import KeptBody
from broker.operators.kept_state import KeptState, kept_state
from tests.broker.operators.cube.kept_stream import MINUTE_US, Topic, batch, cube_id, definition, opened

FIGURES = {"cells": 7, "bytes": 512, "whole": False}


def shown(kept: dict[str, Any]) -> Any:
    adapter: TypeAdapter[KeptBody] = TypeAdapter(KeptState)
    return json.loads(adapter.dump_json(adapter.validate_python(kept)))


def test_figures_are_shown_as_they_are() -> None:
    kept = kept_state("cube", FIGURES)
    assert (shown(kept), list(shown(kept))) == (kept, list(kept))


@pytest.mark.parametrize("change", [{"cells": "seven"}, {"bytes": None}, {"more": 1}])
def test_another_form_is_found(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        shown(kept_state("cube", {**FIGURES, **change}))


def test_all_that_is_kept_of_a_cube_is_described(tmp_path: Path) -> None:
    own, late = definition(), cube_id("late", definition())
    topic = Topic(partitions={0: [("B6", "JFK", 1, each * MINUTE_US) for each in range(9)]})
    keeper = opened(tmp_path)
    keeper.define(late, own)
    topic.commit(keeper, batch(0, 3), {late: own})
    keeper.pause(["late"])
    topic.commit(keeper, batch(5, 7), {late: own})
    keeper.park_damaged(late, 1)
    shards = {"shards": keeper.shards.status(keeper.snapshot.cube(late))}
    status = {**keeper.snapshot.status(late), **shards, "ageing_problem": keeper.bands.problem(late)}
    assert status["gaps"]
    assert status["partitions"]
    assert shown(kept_state("cube", status)) == {"name": "cube", **status}
    assert set(CubeKept.model_fields) == {"name", *status}
    keeper.close()
