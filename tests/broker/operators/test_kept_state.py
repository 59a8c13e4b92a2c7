"""The union of what is kept: its member is the one of the name, and shows what the folder says and no more."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from broker.operators.kept_state import KeptState, kept_state
from broker.operators.kinds import fold_kinds
from tests.broker.operators.cube.kept_stream import MINUTE_US, Topic, batch, cube_id, definition, opened

FIGURES: dict[str, dict[str, Any]] = {"cube": {"cells": 7, "bytes": 512, "whole": False}}


def shown(kept: dict[str, Any]) -> Any:
    adapter = TypeAdapter(KeptState)
    return json.loads(adapter.dump_json(adapter.validate_python(kept)))


def test_every_kind_that_keeps_a_state_is_tried_here() -> None:
    assert FIGURES.keys() == fold_kinds().keys()


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_shown_as_they_are(name: str) -> None:
    kept = kept_state(name, FIGURES[name])
    assert (shown(kept), list(shown(kept))) == (kept, list(kept))


@pytest.mark.parametrize("change", [{"cells": "seven"}, {"bytes": None}, {"more": 1}])
def test_another_form_is_found(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        shown(kept_state("cube", {**FIGURES["cube"], **change}))


def test_all_that_is_kept_of_a_cube_is_described(tmp_path: Any) -> None:
    own, late = definition(), cube_id("late", definition())
    topic = Topic(partitions={0: [("B6", "JFK", 1, each * MINUTE_US) for each in range(9)]})
    keeper = opened(tmp_path)
    keeper.define(late, own)
    topic.commit(keeper, batch(0, 3), {late: own})
    keeper.pause(["late"])
    topic.commit(keeper, batch(5, 7), {late: own})
    keeper.park_damaged(late, 1)
    status = keeper.snapshot.status(late)
    assert status["gaps"]
    assert status["partitions"]
    assert shown(kept_state("cube", status)) == {"name": "cube", **status}
    assert set(fold_kinds()["cube"].kept.model_fields) == {"name", *status}
    keeper.close()
