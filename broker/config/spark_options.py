"""Spark properties that a configuration may set, and which of them may be shown."""

from __future__ import annotations

import re
from collections.abc import Mapping

_FREE = (
    "spark.archives",
    "spark.authenticate",
    "spark.blockManager.port",
    "spark.cores.max",
    "spark.decommission.",
    "spark.deploy.",
    "spark.driver.",
    "spark.dynamicAllocation.",
    "spark.eventLog.",
    "spark.excludeOnFailure.",
    "spark.executor.",
    "spark.executorEnv.",
    "spark.files",
    "spark.hadoop.",
    "spark.io.encryption.",
    "spark.jars",
    "spark.kerberos.",
    "spark.kubernetes.",
    "spark.local.dir",
    "spark.locality.",
    "spark.memory.",
    "spark.metrics.",
    "spark.network.",
    "spark.port.maxRetries",
    "spark.pyspark.python",
    "spark.rpc.",
    "spark.scheduler.",
    "spark.shuffle.",
    "spark.ssl.",
    "spark.standalone.",
    "spark.storage.",
    "spark.task.",
    "spark.ui.",
    "spark.worker.",
    "spark.yarn.",
)
"""Properties that decide where and with what resources a driver and its executors run, and how they connect.

A name that ends in a dot is the prefix of a family of properties.
"""

_TAKEN: Mapping[str, str] = {
    "spark.driver.memory": "is spark.driver_memory here",
    "spark.executor.killOnFatalError.depth": "is set so that a task which fails is one that failed: leave it out",
    "spark.master": "is spark.master, without the quotes, in the section [spark]",
}

_SHOWN = frozenset(
    [
        "spark.archives",
        "spark.authenticate",
        "spark.blockManager.port",
        "spark.cores.max",
        "spark.driver.bindAddress",
        "spark.driver.blockManager.port",
        "spark.driver.cores",
        "spark.driver.host",
        "spark.driver.port",
        "spark.dynamicAllocation.enabled",
        "spark.dynamicAllocation.maxExecutors",
        "spark.dynamicAllocation.minExecutors",
        "spark.executor.cores",
        "spark.executor.instances",
        "spark.executor.memory",
        "spark.executor.memoryOverhead",
        "spark.executor.pyspark.memory",
        "spark.files",
        "spark.io.encryption.enabled",
        "spark.jars",
        "spark.kubernetes.container.image",
        "spark.kubernetes.namespace",
        "spark.local.dir",
        "spark.locality.wait",
        "spark.network.crypto.enabled",
        "spark.network.timeout",
        "spark.pyspark.python",
        "spark.scheduler.maxRegisteredResourcesWaitingTime",
        "spark.scheduler.minRegisteredResourcesRatio",
        "spark.task.cpus",
        "spark.task.maxFailures",
        "spark.ui.enabled",
        "spark.ui.port",
        "spark.yarn.queue",
    ]
)
"""Properties that are known to hold no secret. Options of a JVM and environment variables are not among them, because
they may hold a secret.
"""


def spark_option_remedy(key: str) -> str | None:
    """Return the remedy if a configuration may not set a property. Return None if it may.

    The broker sets the properties that decide the meaning of predicates (``spark.sql.``), how workers run
    (``spark.python.``) or how often a record is written (``spark.speculation``).
    """
    if key in _TAKEN:
        return _TAKEN[key]
    if any(key.startswith(free) if free.endswith(".") else key == free or key.startswith(f"{free}.") for free in _FREE):
        return None
    if key.startswith("spark."):
        return "is not one that may be set, for it may change what is delivered: leave it out"
    return 'is no property of Spark: write "spark.executor.memory" = "2g", the name in quotes'


def masked_spark(options: Mapping[str, str]) -> dict[str, str]:
    """Return properties with masked values, except for properties that are known to hold no secret.

    In the values that are shown, the login of each URL is masked.

    >>> masked_spark({"spark.executor.memory": "2g", "spark.authenticate.secret": "x"})
    {'spark.executor.memory': '2g', 'spark.authenticate.secret': '********'}
    """
    return {key: masked_urls(value) if key in _SHOWN else "********" for key, value in options.items()}


def masked_urls(text: str) -> str:
    """Return a text with the login and the query string of each URL masked, because they may contain keys and
    signatures.

    The login is between ``://`` and the last ``@`` before the path. The query string follows the ``?``.

    >>> masked_urls("s3a://KEY:p@ss@bucket/x.tgz#env,https://host/y.jar?sig=x,local:/opt/z.jar")
    's3a://********@bucket/x.tgz#env,https://host/y.jar?********,local:/opt/z.jar'
    """
    without_login = re.sub(r"(?<=://)[^/,\s]*@", "********@", text)
    return re.sub(r"(://[^?,#\s]*\?)[^,#\s]*", r"\1********", without_login)
