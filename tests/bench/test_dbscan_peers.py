"""Peers of DBSCAN queries: each finds our clusters, and one that is not installed says so."""

from __future__ import annotations

import numpy as np
import pytest

from asc.operators.dbscan.chains import Labels
from asc.operators.dbscan.labels import Setting, labels
from bench.dbscan_compare import check_equal, differing
from bench.dbscan_goals import DBSCAN, HDBSCAN, INCDBSCAN, SKLEARN
from bench.dbscan_peers import Incremental, Numbers, hdbscan_cuts, missing, peers, versions
from bench.dbscan_points import heaps
from bench.dbscan_queries import BenchQuery
from bench.dbscan_turns import run_through

POINTS = heaps(600, 6).values


def test_a_peer_that_is_not_installed_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert missing(SKLEARN) is None
    assert versions()["scikit-learn"] is not None
    monkeypatch.setattr("bench.dbscan_peers.find_spec", lambda name: None if name == "dbscan" else name)
    assert missing(DBSCAN) == "dbscan is not installed"
    assert DBSCAN not in [peer.name for peer in peers()]


def test_peers_of_one_window_find_our_clusters() -> None:
    (own,) = labels(POINTS, [Setting(0.02, 5)])
    for peer in peers():
        found = peer.labels(POINTS, 0.02, 5)
        if peer.is_exact:
            check_equal(peer.name, own, found)
        assert differing(peer.name, own, found) < 20


def test_a_hierarchy_has_our_core_points() -> None:
    pytest.importorskip(HDBSCAN)
    settings = [Setting(0.01, 4), Setting(0.03, 4)]
    cuts = hdbscan_cuts(POINTS, 4, [own.radius for own in settings])
    for own, cut in zip(labels(POINTS, settings), cuts, strict=True):
        core = own.is_core
        assert differing(HDBSCAN, Labels(own.labels[core], core[core], own.clusters), cut[core]) == 0


def test_points_are_inserted_and_deleted_window_by_window() -> None:
    pytest.importorskip("incdbscan")
    # Equal values are one object for it.
    values = np.round(POINTS, 2)
    found: dict[tuple[int, int], Numbers] = {}
    queries = [BenchQuery(0.02, 4, 200, 100), BenchQuery(0.03, 3, 100, 100)]
    own = Incremental(values, queries, lambda *window: found.__setitem__(window[:2], window[2]), is_counted=True)
    run_through(own, len(values), 100)
    assert found.keys() == {(0, end) for end in range(200, 601, 100)} | {(1, end) for end in range(100, 601, 100)}
    for (place, end), numbers in found.items():
        query = queries[place]
        (wanted,) = labels(values[end - query.window : end], [Setting(query.eps, query.min_samples)])
        assert differing(INCDBSCAN, wanted, numbers) < query.window // 4
    assert 0 < own.searches <= 1_200
    assert own.visits > own.searches
