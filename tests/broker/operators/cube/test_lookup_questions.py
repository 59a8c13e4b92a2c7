"""Questions about attributes of look-ups: answers follow the newest table, and cursors belong to one table."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from asc.errors import CubeError
from asc.operators.cube.lookup import Lookup
from asc.operators.cube.view import View
from broker.operators.cube.look import Wanted
from tests.broker.operators.cube.kept_stream import at, batch, cube_id, definition, opened, topic_of
from tests.broker.operators.cube.view_rig import CUBE, filled


def airlines(*names: str, version: int = 0) -> dict[str, Lookup]:
    table = pa.table({"carrier": ["B6", "UA"], "name": list(names)})
    return {"airlines": Lookup.of("airlines", table, "carrier", version=version)}


def test_a_changed_table_changes_old_answers_and_refuses_the_cursor_of_the_former_one(tmp_path: Path) -> None:
    own, late = definition(), cube_id("late", definition())
    keeper = opened(tmp_path)
    keeper.define(late, own)
    topic_of(at(0, "B6", 1), at(1, "UA", 2), at(2, "AA", 4)).commit(keeper, batch(0, 3), {late: own})
    body = {"by": ["airlines.name"], "live": True, "limit": 1}
    first = keeper.questions.query(late, body, lookups=airlines("JetBlue", "United"))
    assert (first["groups"], first["rows"]) == (3, [{"group": {"airlines.name": None}, "n": 1, "d": 4}])
    following = {**body, "cursor": first["cursor"], "limit": 2}
    assert [
        row["d"] for row in keeper.questions.query(late, following, lookups=airlines("JetBlue", "United"))["rows"]
    ] == [
        1,
        2,
    ]
    changed = airlines("Blue", "Blue", version=1)
    with pytest.raises(CubeError, match="is of another question, or of another table of a look-up: give the body"):
        keeper.questions.query(late, following, lookups=changed)
    found = keeper.questions.query(late, {**body, "limit": 10}, lookups=changed)
    assert [(row["group"]["airlines.name"], row["d"]) for row in found["rows"]] == [(None, 4), ("Blue", 3)]
    # A question without attributes has the cursor that it had before there were look-ups.
    plain = {"by": ["carrier"], "live": True, "limit": 1}
    cursors = {keeper.questions.query(late, plain, lookups=own)["cursor"] for own in ({}, changed)}
    assert len(cursors) == 1
    keeper.close()


def test_a_page_may_have_attributes_in_rows_and_columns(tmp_path: Path) -> None:
    own, late = definition(), cube_id("late", definition())
    keeper = opened(tmp_path)
    keeper.define(late, own)
    topic_of(at(0, "B6", 1), at(1, "UA", 2), at(2, "AA", 4)).commit(keeper, batch(0, 3), {late: own})
    wanted = Wanted({"live": True, "where": "airlines.name IS NOT NULL"}, down=["dest"], across=["airlines.name"])
    look = keeper.questions.look(late, wanted, lookups=airlines("JetBlue", "United"))
    assert [column["group"] for column in look.pivot.columns] == [
        {"airlines.name": "JetBlue"},
        {"airlines.name": "United"},
    ]
    assert look.pivot.total["n"] == 2
    keeper.close()


def test_a_stored_view_with_the_keys_answers(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path, View((1, 0), 60), View((0, 0), 60))
    lookups = airlines("JetBlue", "United")
    for where in (None, "airlines.name IS NULL OR airlines.name >= 'K'"):
        body = {"by": [["airlines.name"], []], **({} if where is None else {"where": where})}
        forced = {"answer_from": {"by": ["carrier", "dest"], "grain_s": 60}}
        from_view = keeper.questions.query(CUBE, body, lookups=lookups)
        from_base = keeper.questions.query(CUBE, {**body, **forced}, lookups=lookups)
        assert from_view["rows"] == from_base["rows"] != []
        assert [own["cuboid"] for own in from_base["answered_by"]] == [["carrier", "dest"]]
        assert ["carrier"] in [own["cuboid"] for own in from_view["answered_by"]]
    keeper.close()
