"""Fences through ``broker.match``, compared with one plain predicate over the same records, and with Sedona if
available.
"""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import DataFrame

from asc.plan.compiler import compile_plan
from asc.plan.plan import Plan, Query
from asc.predicate import normalise
from bench import sedona_spark
from bench.paired_stats import ratio_of
from bench.parquet_input import parquet_frame
from bench.spark_contender import Contender, run_in_turns
from broker.matching.dataframe import match_plan, schema_of
from broker.matching.shipped_plan import ShippedPlan
from broker.runtime.spark import spark_session

FENCES, PLAIN, SEDONA = "fences", "one plain predicate", "Sedona on Spark"


def through_spark(
    plan: Plan, shapes: npt.NDArray[Any], positions: npt.NDArray[np.float64], rows: int, repetitions: int
) -> dict[str, Any]:
    """Measure the seconds that Spark takes to match ``rows`` records with the fences of a plan, and with one plain
    predicate. The positions are repeated until there are so many records.

    The plain predicate accepts half of the records. If Sedona's jar is named, also measure Sedona's join with the
    shapes of the plan's queries.
    """
    options = sedona_spark.session_options()
    spark = spark_session(app_name="asc-bench-spatial", driver_memory="4g", options=options)
    spark.sparkContext.setLogLevel("ERROR")
    places = positions[np.arange(rows) % len(positions)]
    tuples = pa.table({name: places[:, place] for place, name in enumerate(("longitude", "latitude"))})
    middle = float(np.median(places[:, 1]))
    with tempfile.TemporaryDirectory(prefix="asc-bench-") as folder:
        frame = parquet_frame(spark, Path(folder), tuples)
        plain = compile_plan([Query("north", normalise(f"latitude > {middle!r}D", schema_of(frame)))])
        shipped = {name: ShippedPlan.of(frame, own) for name, own in ((FENCES, plan), (PLAIN, plain))}
        matched = {name: match_plan(frame, own) for name, own in shipped.items()}
        contenders = [
            Contender(name, lambda found=found: found, None, in_python=True)  # type: ignore[misc]
            for name, found in matched.items()
        ]
        run_in_turns(spark, contenders, repetitions, f"{len(plan):,} fences through Spark")
        accepted = {name: found.count() for name, found in matched.items()}
        sedona = None
        if options:
            pairs = sedona_spark.joined(spark, frame, shapes)
            sedona = Contender(SEDONA, lambda: pairs, DataFrame.count)
            run_in_turns(spark, [sedona], repetitions, f"{len(plan):,} fences through Sedona")
    seconds = {contender.name: contender.seconds for contender in contenders}
    return {
        "rows": rows,
        "fences": len(plan),
        "accepted": accepted,
        "median_s": {name: statistics.median(own) for name, own in seconds.items()},
        "runs_s": seconds,
        "ratio": asdict(ratio_of(seconds[FENCES], seconds[PLAIN])),
        "sedona": None if sedona is None else sedona.result(),
    }
