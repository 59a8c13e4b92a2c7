"""Preparation before the first start: fetching, compiling and archiving that would otherwise slow down the start."""

from __future__ import annotations

from broker.runtime.archived_start import archive_classes
from broker.runtime.jars import fetch_jars
from broker.runtime.java import find_java
from broker.runtime.locked_jars import kafka_node, spark_connector
from broker.runtime.progress import Progress
from broker.runtime.warm_up import compile_kernels


def prepare(report: Progress, progress: Progress) -> None:
    """Find Java, fetch the jars, compile the kernels and archive Spark's classes. Skip what exists already.

    ``report`` receives lines about the results, ``progress`` lines about long steps. Raise RuntimeMissingError.
    """
    report(str(find_java()))
    for jar_set in (spark_connector(), kafka_node()):
        jars = fetch_jars(jar_set, progress)
        report(f"{len(jars)} jars of {jar_set} in {jars[0].parent}")
    compile_kernels()
    report("kernels compiled")
    archive = archive_classes(progress)
    report(f"Spark's classes in {archive.file}" if archive.is_there else "Spark's classes: this Java archives none")
