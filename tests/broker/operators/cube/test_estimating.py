"""Estimates of cubes by a sample of records: those that workers would make."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pyarrow as pa
import pytest

from asc.operators.cube.piece import Piece
from broker.operators.cube import estimating
from broker.operators.cube.estimating import estimated
from broker.operators.fold_destination import FoldDestination
from broker.operators.fold_sample import FoldSample
from tests.broker.operators.cube.test_kind import PLAIN, destination

BEGIN = datetime(2026, 6, 1, tzinfo=timezone.utc)


def sample(own: FoldDestination, rows: int, *, minutes: int = 1) -> FoldSample:
    """Return rows as Spark hands them over: booleans of expressions as 0 and 1, times as microseconds."""
    begin_us = round(BEGIN.timestamp() * 1_000_000)
    values = {
        "t": [begin_us + each * minutes * 60_000_000 for each in range(rows)],
        "b": [each % 2 == 0 for each in range(rows)],
        "upper(s)": [f"S{each % 3}" for each in range(rows)],
        "place.city": [None] * rows,
        "(i > 5)": [each % 2 for each in range(rows)],
        "x": [Decimal(each) / 4 for each in range(rows)],
        "l": [1] * rows,
    }
    arrays = [pa.array(values.get(each.name, list(range(rows))), each.attribute.type) for each in own.columns]
    return FoldSample(rows + 3, 2, pa.RecordBatch.from_arrays(arrays, names=[each.name for each in own.columns]))


def test_a_sample_is_folded_as_the_records_of_a_batch() -> None:
    own = destination()
    found = estimated(own, sample(own, 60))
    plain = found.body.model_dump()
    assert found.warnings == ()
    # Four panes of a quarter, and in each the six pairs of a boolean and a text.
    assert (plain["cuboids"], plain["panes"], plain["cells"]) == (12, 4, 24)
    assert (plain["records"], plain["undecodable"], plain["counted"], plain["reason"]) == (63, 2, 60, None)
    assert plain["bytes"] > 0
    assert plain["name"] == "cube"
    size = f"24 cells in 4 panes, {plain['bytes']:,} bytes; 6.0 cells a pane, {plain['bytes_a_cell']:,} bytes a cell"
    assert plain["text"] == f"it has 12 cuboids; of 63 records it counts 60: {size}, 2.5 records a cell"


def test_a_group_that_is_too_large_is_not_counted() -> None:
    own = destination({**PLAIN, "dimensions": [["upper(s)"]], "measures": ["count(*)"]})
    times = pa.array([round((BEGIN + timedelta(minutes=each)).timestamp()) * 1_000_000 for each in range(2)])
    columns = {"t": times, "upper(s)": pa.array(["X" * 5_000, "X"])}
    arrays = [columns[each.name] for each in own.columns]
    given = FoldSample(2, 0, pa.RecordBatch.from_arrays(arrays, names=[each.name for each in own.columns]))
    body = estimated(own, given).body.model_dump()
    assert [body[name] for name in ("counted", "cells")] == [1, 1]


def test_without_a_sample_it_says_why() -> None:
    found = estimated(destination(), "nobody may")
    known = found.body.model_dump(exclude_none=True)
    text = "it has 12 cuboids; cells and bytes are not known: nobody may"
    assert known == {"name": "cube", "text": text, "cuboids": 12, "reason": "nobody may"}
    own = destination()
    body = estimated(own, sample(own, 0)).body.model_dump()
    assert body["reason"] == "none of the last 3 records is counted"


def test_the_bytes_of_no_more_panes_are_made_than_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    own = destination()
    made: list[int] = []
    to_bytes = Piece.to_bytes
    monkeypatch.setattr(Piece, "to_bytes", lambda piece: made.append(piece.pane) or to_bytes(piece))
    whole = estimated(own, sample(own, 200, minutes=15)).body.model_dump()
    assert len(made) == 200
    made.clear()
    monkeypatch.setattr(estimating, "MEASURED_PANES_MAX", 20)
    found = estimated(own, sample(own, 200, minutes=15)).body.model_dump()
    assert len(made) == len(set(made)) == 20
    assert (found["panes"], found["cells"]) == (whole["panes"], whole["cells"]) == (200, 200)
    assert found["bytes"] == pytest.approx(whole["bytes"], rel=0.02)
