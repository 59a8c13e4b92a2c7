"""The ids that a state holds for the next window: their number, their size, and the records of very many ids."""

from __future__ import annotations

from itertools import pairwise

import pytest

from asc.operators.dbscan import identity
from asc.operators.dbscan.clusters import Clusters
from asc.operators.dbscan.dbscan_query import DbscanQuery
from asc.operators.dbscan.identity import IDS_HELD_MAX
from asc.operators.dbscan.records import IDS_MAX, DbscanOutput
from asc.operators.feed import Watermarks
from tests.asc.operators.dbscan.model import MS, Record, query, run, settings, texts, values

POINT_BYTES = 56
ID_BYTES = 12

# Points 3 apart are clusters, each of one point.
APART = query(eps=0.5, min_samples=1, sample=0)


def messages_of(own: DbscanQuery, count: int) -> list[str]:
    """The messages of ``count`` clusters that are in two windows and not in the third."""
    points = [Record(11 * MS, (3.0 * number, 0.0), offset=number).message() for number in range(count)]
    marks = [Watermarks({"ts": end * MS}) for end in (20, 30, 40)]
    return texts([settings(own, limit=20_000), *points, *marks])


def read_in_pieces(messages: list[str], *cuts: int) -> tuple[list[DbscanOutput], list[bytes]]:
    """Return the outputs, and the state after each piece. The state is written and read between two pieces."""
    clusters, outputs, states = Clusters(), list[DbscanOutput](), list[bytes]()
    for low, high in pairwise([0, *cuts, len(messages)]):
        outputs += run(messages[low:high], clusters)
        states.append(clusters.to_bytes())
        clusters = Clusters.of_bytes(states[-1])
        assert clusters.to_bytes() == states[-1]
    return outputs, states


@pytest.mark.parametrize("count", [IDS_HELD_MAX, IDS_HELD_MAX + 1])
def test_a_window_of_more_clusters_than_the_limit_passes_no_ids_on(count: int) -> None:
    messages, is_held = messages_of(APART, count), count <= IDS_HELD_MAX
    whole = Clusters()
    outputs = run(messages, whole)
    found, states = read_in_pieces(messages, 1, count // 2, count + 1, count + 2, count + 3)
    assert found == outputs
    assert states[-1] == whole.to_bytes()
    # The window itself is complete in both cases.
    records = values(outputs)
    first, window, later = records[:count], records[count], records[count + 1 : -2]
    assert [own["cluster"] for own in first] == [f"20-{label}" for label in range(count)]
    assert (window["clusters"], window["points"], window["core"]) == (count, count, count)
    assert [own["label"] for own in later] == list(range(count))
    assert {(own["cluster"], *own["events"], *own["from"]) for own in later} == (
        {(f"20-{label}", f"20-{label}") for label in range(count)}
        if is_held
        else {(f"30-{label}", "appear") for label in range(count)}
    )
    assert [len(own["disappeared"]) for own in records[-2:]] == [0, count if is_held else 0]
    # The points of the preceding window are in the state as long as a window is compared with it.
    for state in states[3:5]:
        clusters = Clusters.of_bytes(state)
        ids_bytes = ID_BYTES * count if is_held else 0
        assert clusters.cache_bytes == POINT_BYTES * clusters.held + ids_bytes
        assert 0 < len(state) - clusters.cache_bytes < 2_000
        assert clusters.held == (count if is_held or state is states[3] else 0)


def test_more_ids_than_the_limit_in_a_former_state_start_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    messages = messages_of(APART, 3)
    monkeypatch.setattr(identity, "IDS_HELD_MAX", 3)
    _, (_, state, _) = read_in_pieces(messages, 4, 5)
    for ids_max, ids in ((3, ["20-0", "20-1", "20-2"]), (2, ["30-0", "30-1", "30-2"])):
        monkeypatch.setattr(identity, "IDS_HELD_MAX", ids_max)
        outputs = run(messages[5:], Clusters.of_bytes(state))
        assert [own["cluster"] for own in values(outputs) if own["record"] == "cluster"] == ids


def test_a_record_lists_so_many_ids_and_says_how_many_more() -> None:
    own = query(eps=1.0, min_samples=1, window=20 * MS, slide=10 * MS, sample=0)
    apart = [Record(11 * MS, (1.5 * number, 0.0), offset=number) for number in range(IDS_HELD_MAX)]
    between = [
        Record(21 * MS, (1.5 * number + 0.75, 0.0), offset=IDS_HELD_MAX + number) for number in range(IDS_HELD_MAX - 1)
    ]
    messages = [settings(own, limit=50_000), *(one.message() for one in apart), Watermarks({"ts": 20 * MS})]
    messages += [*(one.message() for one in between), Watermarks({"ts": 30 * MS})]
    cluster, window = values(run(texts(messages)))[-2:]
    assert (len(cluster["from"]), cluster["events"]) == (IDS_HELD_MAX, ["merge"])
    # Each old id but one is listed with the cluster that its point joined.
    assert len(window["disappeared"]) == IDS_MAX // 2
    assert window["disappeared_more"] == IDS_HELD_MAX - 1 - IDS_MAX // 2
