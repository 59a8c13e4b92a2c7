"""Views in the file of cubes."""

from __future__ import annotations

from pathlib import Path

from asc.operators.cube.view import View
from tests.broker.operators.cube.kept_stream import (
    opened,
)
from tests.broker.operators.cube.view_rig import (
    CUBE,
    OWN,
    answer,
    filled,
)


def test_a_file_without_views_is_read(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path)
    wanted = answer(keeper, by=["carrier"])
    store = keeper._store
    with store.transaction():
        for statement in (
            *(
                "DROP INDEX pieces_of_view",
                "DROP INDEX base_pieces",
                "ALTER TABLE cubes DROP COLUMN kept_from",
                "DROP TABLE views",
                "DROP TABLE removed_views",
            ),
            *("ALTER TABLE pieces DROP COLUMN view", "PRAGMA user_version = 1"),
        ):
            store.execute(statement)
    keeper.close()
    keeper = opened(tmp_path)
    keeper.define(CUBE, OWN, pins=[View((1, 0), 60)])
    keeper.views.fill(10)
    again = answer(keeper, by=["carrier"])
    assert again["rows"] == wanted["rows"]
    assert again["answered_by"][0]["grain_s"] == 3600
