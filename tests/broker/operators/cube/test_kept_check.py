"""Questions about what a cube keeps no more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from asc.errors import CubeError
from tests.broker.operators.cube.kept_stream import minute
from tests.broker.operators.cube.test_ageing import aged
from tests.broker.operators.cube.view_rig import answer


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (
            {"by": [], "from": minute(60)},
            f"from '{minute(60)}': is not kept any more: give {minute(120)} or a",
        ),
        ({"by": ["carrier"]}, f"by 'carrier': is not kept before {minute(180)}: ask from then on"),
        ({"by": [], "where": "carrier = 'B6'"}, "by 'carrier': is not kept before"),
        (
            {"by": [], "grain_s": 300},
            f"grain_s 300: is finer than .* kept before {minute(180)}: give 600",
        ),
        ({"by": [], "from": minute(124)}, f"from '{minute(124)}': is within a pane of 10min, .* give {minute(120)}"),
        ({"by": [], "to": minute(137)}, f"to '{minute(137)}': is within a pane of 10min, .* give {minute(140)}"),
    ],
)
def test_what_is_not_kept_is_refused_with_the_nearest_that_is(tmp_path: Path, body: dict[str, Any], error: str) -> None:
    keeper, _ = aged(tmp_path, "1min:60min", "10min:120min carrier:0")
    with pytest.raises(CubeError, match=error):
        answer(keeper, **body)
    assert answer(keeper, by=["carrier"], **{"from": minute(180)})["rows"][0]["n"] == 60
