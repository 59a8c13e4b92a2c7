"""The last window of a DBSCAN query in answers of the API."""

from __future__ import annotations

import pytest

from asc.operators.dbscan.clusters import Clusters
from asc.operators.feed import Watermarks
from broker.operators.dbscan.kept import DbscanKept
from tests.asc.operators.dbscan.model import MS, Record, query, run, settings, texts


@pytest.mark.parametrize(
    ("points", "wanted"),
    [
        (0, {}),
        (5, {"clusters": 1, "noise": 1, "end": "1970-01-01T00:00:00.020000Z"}),
        (9, {"clusters": None, "noise": None, "end": "1970-01-01T00:00:00.020000Z", "skipped": "capacity"}),
    ],
)
def test_it_has_the_figures_of_the_last_window_also_after_its_state_was_read(
    points: int, wanted: dict[str, object]
) -> None:
    records = [Record(MS * 11, (0.0, 0.0), offset=number) for number in range(1, points)]
    records = [Record(MS * 11, (50.0, 50.0)), *records] if points else []
    clusters = Clusters()
    run(texts([settings(query(window=20 * MS, slide=20 * MS), limit=8), *(own.message() for own in records)]), clusters)
    run([Watermarks({"ts": 21 * MS}).text()], clusters)
    for part in (clusters, Clusters.of_bytes(clusters.to_bytes())):
        run([], part)
        assert part.counts.latest == {"timed": wanted}
    found = DbscanKept.model_validate({"name": "dbscan", **wanted})
    assert found.model_dump(exclude_unset=True) == {"name": "dbscan", **wanted}
