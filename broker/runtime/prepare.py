"""Preparation before the first start: fetching, compiling and archiving that would otherwise slow down the start."""

from __future__ import annotations

from broker.runtime.archived_start import archive_classes
from broker.runtime.jars import fetch_jars
from broker.runtime.java import find_java
from broker.runtime.locked_jars import kafka_node, spark_connector
from broker.runtime.progress import Progress
from broker.runtime.warm_up import compile_kernels


def prepare(tell: Progress, progress: Progress) -> None:
    """Find Java, fetch the jars, compile the kernels and archive Spark's classes. Skip what exists already.

    ``tell`` receives lines about the results, ``progress`` lines about long steps. Raise RuntimeMissingError.
    """
    tell(str(find_java()))
    for jar_set in (spark_connector(), kafka_node()):
        jars = fetch_jars(jar_set, progress)
        tell(f"{len(jars)} jars of {jar_set} in {jars[0].parent}")
    compile_kernels()
    tell("kernels compiled")
    archive = archive_classes(progress)
    tell(f"Spark's classes in {archive.file}" if archive.is_there else "Spark's classes: this Java archives none")
