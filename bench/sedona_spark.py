"""The peer Sedona on Spark, which joins records with fences if ``ASC_SEDONA_JAR`` names its jar."""

from __future__ import annotations

import os
from typing import Any

import numpy.typing as npt
import pyarrow as pa
import shapely
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

JAR_VARIABLE = "ASC_SEDONA_JAR"
"""The environment variable with the path of ``sedona-spark-shaded-4.0_2.13`` from Maven's central repository."""


def session_options() -> dict[str, str]:
    """Return the Spark options that a session needs for Sedona. Return no options if ``ASC_SEDONA_JAR`` is not set."""
    jar = os.environ.get(JAR_VARIABLE)
    return {"spark.jars": jar} if jar else {}


def joined(spark: SparkSession, records: DataFrame, shapes: npt.NDArray[Any]) -> DataFrame:
    """Return the pairs of a record, with its longitude and latitude, and a fence that contains the record. The fences
    are broadcast with an index, which is built in every run. Raises TypeError if the session was started without the
    jar.
    """
    jvm: Any = spark._jvm
    jvm.org.apache.sedona.spark.SedonaContext.create(spark._jsparkSession, "python")
    fences = spark.createDataFrame(pa.table({"wkb": pa.array(shapely.to_wkb(shapes), pa.binary())}))
    geometries = fences.select(F.expr("ST_GeomFromWKB(wkb)").alias("fence"))
    contains = F.expr("ST_Contains(fence, ST_Point(longitude, latitude))")
    return records.join(F.broadcast(geometries), contains).select("longitude", "latitude")
