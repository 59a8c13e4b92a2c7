"""SedonaDB as a peer: it finds what shapely finds, where there is one."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError

import numpy as np
import pytest
import shapely

from bench import sedona_db


def test_it_counts_what_shapely_counts() -> None:
    pytest.importorskip("sedonadb")
    random = np.random.default_rng(0)
    shapes = shapely.buffer(shapely.points(random.uniform(0, 10, (50, 2))), 0.5)
    places = random.uniform(0, 10, (400, 2))
    assert sedona_db.version()
    assert (
        sedona_db.joined(shapes, places)()
        == len(shapely.STRtree(shapes).query(shapely.points(places), predicate="within")[0])
        > 0
    )


def test_where_it_is_missing_there_is_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(sedona_db, "version_of", missing)
    assert sedona_db.version() is None
