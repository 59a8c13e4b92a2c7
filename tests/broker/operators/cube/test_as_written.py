"""A refusal for a dimension that is not kept names the field that the question has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from asc.errors import CubeError
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.keep import bands_of
from broker.operators.cube.keeper import Keeper
from tests.broker.operators.cube.kept_stream import at, batch, cube_id, opened, topic_of
from tests.broker.operators.cube.test_lookup_questions import airlines

LEVELS = CubeDefinition.parse(
    {"dimensions": [["carrier", "dest"]], "measures": ["count(*) AS n"], "time": "t", "grain_s": 60}
)
CUBE = cube_id("late", LEVELS)


def aged(folder: Path, level: int) -> Keeper:
    """Return the keeper of a cube whose older panes have a number of levels."""
    topic = topic_of(*(at(each) for each in range(241)))
    keeper = opened(folder)
    keeper.define(CUBE, LEVELS)
    keeper.bands.define(CUBE, bands_of(["1min:60min", f"10min:120min carrier:{level}"], LEVELS))
    topic.commit(keeper, batch(0, len(topic.partitions[0])), {CUBE: LEVELS})
    keeper.bands.age(10)
    return keeper


@pytest.mark.parametrize(
    ("level", "body", "said"),
    [
        (0, {"by": ["carrier"]}, "by 'carrier': is not kept before"),
        (0, {"by": ["dest"]}, "by 'dest': needs carrier, which is not kept before"),
        (1, {"by": ["dest"]}, "by 'dest': is not kept before"),
        (0, {"by": [], "where": "carrier > 'A'"}, "where \"carrier > 'A'\": needs carrier, which is not kept before"),
        (1, {"by": ["carrier"], "where": "dest > 'A'"}, "where \"dest > 'A'\": needs dest, which is not kept before"),
        (0, {"by": ["airlines.name"]}, "by 'airlines.name': needs carrier, which is not kept before"),
        (0, {"by": [], "where": "airlines.name = 'x'"}, "where \"airlines.name = 'x'\": needs carrier, which is not"),
    ],
)
def test_the_field_and_the_name_are_those_of_the_question(
    tmp_path: Path, level: int, body: dict[str, Any], said: str
) -> None:
    keeper = aged(tmp_path, level)
    with pytest.raises(CubeError) as refused:
        keeper.questions.query(CUBE, body, lookups=airlines("JetBlue", "United"))
    assert str(refused.value).startswith(said)
