"""The peer SedonaDB, which joins positions with fences if it is installed (``pip install sedonadb``)."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import shapely

_JOIN = (
    "SELECT count(*) FROM places JOIN fences ON ST_Contains(fences.shape, ST_Point(places.longitude, places.latitude))"
)


def version() -> str | None:
    """Return the version of SedonaDB. Return None if SedonaDB is not installed."""
    try:
        return version_of("sedonadb")
    except PackageNotFoundError:
        return None


def joined(shapes: npt.NDArray[Any], places: npt.NDArray[np.float64]) -> Callable[[], int]:
    """Return a function that counts, on one thread, the pairs of a position (longitude, latitude) and a fence that
    contains the position.

    The fences are converted to SedonaDB's geometries before the function is called. SedonaDB builds a new index for
    every call.
    """
    with warnings.catch_warnings():
        # SedonaDB warns if PROJ and GDAL are missing, which this benchmark does not use.
        warnings.simplefilter("ignore")
        session = importlib.import_module("sedonadb").connect()
        pa.table(session.sql("SET datafusion.execution.target_partitions = 1"))
        session.create_data_frame(pa.table({"wkb": pa.array(shapely.to_wkb(shapes), pa.binary())})).to_view("texts")
        session.sql("SELECT ST_GeomFromWKB(wkb) AS shape FROM texts").to_memtable().to_view("fences")
        columns = {name: places[:, place] for place, name in enumerate(("longitude", "latitude"))}
        session.create_data_frame(pa.table(columns)).to_view("places")

    def count() -> int:
        return int(pa.table(session.sql(_JOIN)).column(0)[0].as_py())

    return count
