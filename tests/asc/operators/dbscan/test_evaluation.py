"""The work that the windows of one watermark share."""

from __future__ import annotations

import pytest

from asc.operators.dbscan.clusters import Clusters
from asc.operators.dbscan.neighbours import Neighbours
from asc.operators.dbscan.points import Floats
from tests.asc.operators.dbscan.model import MS, Record, expected, feed, query, run, texts, values

QUERIES = (
    query("wide", is_timed=False, window=60, slide=7),
    query("single", is_timed=False, window=12, slide=1, eps=0.5),
    query("timed", window=30 * MS, slide=3 * MS, lateness_us=0),
)


@pytest.mark.parametrize("keeps_neighbours", [True, False])
def test_neighbours_are_searched_once_for_all_ends_of_a_watermark(
    monkeypatch: pytest.MonkeyPatch, *, keeps_neighbours: bool
) -> None:
    searches: list[int] = []
    extended = Neighbours.extended

    def counted(self: Neighbours, added: Floats) -> Neighbours | None:
        searches.append(len(added))
        return extended(self, added)

    monkeypatch.setattr(Neighbours, "extended", counted)
    records = [Record(n * MS, (n % 7 * 0.4, n % 11 * 0.4), ("s",), n) for n in range(150)]
    batches = [records[:90], records[90:110], records[110:]]
    clusters = Clusters(keeps_neighbours=keeps_neighbours)
    outputs = run(texts(feed(batches, 0, *QUERIES)), clusters)
    for own in QUERIES:
        assert values(outputs, own.id) == list(expected(records, own, 149 * MS))
    assert sum(output.kind == "window" for output in outputs) > 150
    # The last point of a batch has the time of the watermark, and waits for the next one.
    assert len(searches) == len(batches)
    if keeps_neighbours:
        assert searches == [89, 20, 40]
