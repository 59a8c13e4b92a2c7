"""Labels of recorded points equal scikit-learn's, where ``ASC_DATA_DIR`` names a folder that has them."""

from __future__ import annotations

import gzip
import os
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow.csv
import pytest

from asc.operators.dbscan.labels import Setting, labels
from tests.asc.operators.dbscan.label_methods import Floats, by_scikit_learn
from workloads.real_data import VARIABLE

RADII = {
    "birch-rg1.arff.gz": (0.1, 0.5, 1.5),
    "cluto-t4-8k.arff.gz": (3.0, 8.5, 20.0),
    "cluto-t7-10k.arff.gz": (3.0, 10.0, 25.0),
    "mopsi-finland.arff.gz": (10.0, 300.0, 5_000.0),
}
WINDOW = 6_000


def folder() -> Path:
    if VARIABLE not in os.environ:
        pytest.skip(f"{VARIABLE} names no folder of recorded data")
    return Path(os.environ[VARIABLE])


def check(points: Floats, radii: tuple[float, ...]) -> None:
    asked = [Setting(*own) for own in product(radii, (2, 5, 30), (0, len(points) // 2))]
    for setting, found in zip(asked, labels(points, asked), strict=True):
        wanted = by_scikit_learn(points[setting.first :], setting.radius, setting.min_samples)
        assert np.array_equal(found.labels, wanted), setting


@pytest.mark.nightly
@pytest.mark.parametrize("name", RADII)
def test_labels_of_sets_for_clustering(name: str) -> None:
    with gzip.open(folder() / "clustering" / name, "rt", encoding="latin-1") as file:
        lines = [line.split(",") for line in file if line.strip() and line[0] not in "@%"]
    points = np.array([(float(own[0]), float(own[1])) for own in lines])
    for low in range(0, min(len(points), 3 * WINDOW), WINDOW):
        check(points[low : low + WINDOW], RADII[name])


@pytest.mark.nightly
def test_labels_of_recorded_aircraft() -> None:
    table = pyarrow.csv.read_csv(folder() / "adsb" / "adsb_switzerland.csv.gz").sort_by("ts")
    points = np.column_stack([table["longitude"].to_numpy() * 0.68, table["latitude"].to_numpy()])
    points = points[~np.isnan(points).any(axis=1)]
    for low in (0, 60_000):
        check(points[low : low + WINDOW], (0.005, 0.02, 0.1))
