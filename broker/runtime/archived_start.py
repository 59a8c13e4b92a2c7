"""``python -m broker.runtime.archived_start``: a Spark session that uses every needed feature once, for the class
archive.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from broker.runtime.class_archive import ClassArchive
from broker.runtime.java import find_java
from broker.runtime.progress import Progress
from broker.runtime.spark import class_archive, spark_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MADE_WITHIN_S = 300


def archive_classes(progress: Progress = lambda line: None) -> ClassArchive:
    """Create the archive of Spark's classes if it is missing. If this Java supports no such archive, none is created.
    The creation takes half a minute. It runs in a separate process, because this process may already have a JVM. Raise
    RuntimeMissingError.
    """
    archive = class_archive(find_java())
    if not archive.is_there:
        progress("Archiving Spark's classes, for starts in half the time (half a minute, once) ...")
        command = [sys.executable, "-m", "broker.runtime.archived_start"]
        # Run in the folder that contains the packages, because Python imports from the working folder first.
        own = Path(__file__).parents[2]
        nowhere = subprocess.DEVNULL
        subprocess.run(command, cwd=own, timeout=_MADE_WITHIN_S, stdout=nowhere, stderr=nowhere, check=False)
    return archive


def main() -> None:
    """Start Spark, use each feature that the broker uses, and shut Spark down."""
    with class_archive(find_java()).recorded() as options, tempfile.TemporaryDirectory() as folder:
        spark = spark_session(master="local[2]", java_options=options)
        process: Any = spark.sparkContext._gateway
        try:
            seen: list[int] = []

            def count(batch: DataFrame, _: int) -> None:
                decoded = batch.selectExpr("from_json(cast(value as string), 'value BIGINT, s STRING') AS found")
                rows = decoded.selectExpr("found.*").mapInArrow(lambda tables: tables, "value BIGINT, s STRING")
                rows.filter("value >= 0 AND s LIKE 'a%' OR length(s) > 1").write.format("noop").mode("append").save()
                seen.append(1)

            ticking = spark.readStream.format("rate").load()
            records = ticking.selectExpr("""'{"value": 1, "s": "abc"}' AS value""")
            job = (
                records.writeStream.foreachBatch(count).option("checkpointLocation", str(Path(folder) / "job")).start()
            )
            deadline = time.monotonic() + _MADE_WITHIN_S / 3
            while len(seen) < 2 and time.monotonic() < deadline and job.isActive:
                time.sleep(0.1)
            job.stop()
        finally:
            spark.stop()
            # The JVM ends when its input closes, and then writes the archive.
            process.proc.stdin.close()
            process.proc.wait(_MADE_WITHIN_S / 3)


if __name__ == "__main__":
    main()
