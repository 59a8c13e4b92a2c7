"""The time that the API takes to validate the worst predicates that the limits allow."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from tqdm import tqdm

from bench.idle_daemon import client_of, idle_daemon
from bench.machine import machine
from bench.result_file import write_result
from broker.runtime.java import find_java
from broker.runtime.spark import spark_session
from workloads.heavy_predicates import HEAVY_DDL, heavy_predicates

FULL, QUICK = 10_000, 200
_SEED = 9
_STREAM = "heavy"
_WARM_UP = 50
_SLOWEST = 10
_CHECKED = {True: "accepted", False: "refused"}


def run(*, quick: bool, output_dir: Path) -> dict[str, Any]:
    """Let a daemon check predicates, write ``validation.json`` into the folder, and return the content of the file.

    The predicates are posted to ``/v1/check`` one after the other. The daemon validates them as it validates a
    registration. The first predicates, while Java's compilers warm up, are reported separately. Raises RuntimeError for
    an answer that is neither a verdict nor a refusal.
    """
    spark = spark_session(app_name="asc-bench-validation")
    with tempfile.TemporaryDirectory(prefix="asc-bench-") as folder:
        runs = _validated(spark, Path(folder), QUICK if quick else FULL)
    warm = runs[min(_WARM_UP, len(runs) // 2) :]
    slowest = sorted(warm, key=lambda each: -each["seconds"])[:_SLOWEST]
    result = {
        "benchmark": "validation",
        "quick": quick,
        "machine": {**machine(), "java": find_java().version},
        "predicates": f"heavy_predicates(seed={_SEED})",
        "runs": len(warm),
        "first_worst_s": max(each["seconds"] for each in runs[: len(runs) - len(warm)]),
        "results": {
            "all": _spread([each["seconds"] for each in warm]),
            **{
                verdict: _spread([each["seconds"] for each in warm if each["verdict"] == verdict])
                for verdict in _CHECKED.values()
            },
        },
        "refusals": dict(Counter(each["reason"] for each in warm if each["reason"]).most_common(12)),
        "slowest": slowest,
    }
    write_result(output_dir, "validation", result)
    return result


def table(result: dict[str, Any]) -> str:
    """Return the result as lines of text: the median, the 99th percentile and the maximum, for accepted and for refused
    predicates.
    """
    lines = [f"{result['runs']:,} predicates near the limits, each checked by the API", ""]
    lines.append(f"{'verdict':<10} {'count':>7}  {'median':>8}  {'99 %':>8}  {'worst':>8}")
    for verdict, spread in result["results"].items():
        times = "  ".join(f"{spread[name] * 1e3:>5.0f} ms" for name in ("median_s", "p99_s", "worst_s"))
        lines.append(f"{verdict:<10} {spread['count']:>7,}  {times}")
    lines += ["", "the slowest:"]
    lines += [f"{each['seconds'] * 1e3:>5.0f} ms  {each['verdict']:<9} {each['kind']}" for each in result["slowest"]]
    return "\n".join(lines)


def _validated(spark: SparkSession, folder: Path, count: int) -> list[dict[str, Any]]:
    schema_file = folder / "heavy.ddl"
    schema_file.write_text(HEAVY_DDL, "utf-8")
    runs = []
    with idle_daemon(spark, folder, _STREAM, schema_file) as daemon, client_of(daemon) as client:
        for kind, text in tqdm(
            heavy_predicates(_SEED, count), total=count, desc="predicates", leave=False, disable=None
        ):
            start = time.perf_counter()
            answer = client.post("/v1/check", json={"stream": _STREAM, "where": text})
            seconds = time.perf_counter() - start
            if answer.status_code not in (200, 400):
                raise RuntimeError(f"{kind}: {answer.status_code}: {answer.text[:500]}: {text[:500]}")
            reason = "" if answer.is_success else answer.json()["error"]["remedy"][:60]
            verdict = _CHECKED[answer.is_success]
            runs.append(
                {"kind": kind, "seconds": round(seconds, 5), "verdict": verdict, "reason": reason, "text": text[:120]}
            )
    return runs


def _spread(seconds: list[float]) -> dict[str, Any]:
    if not seconds:
        return {"count": 0, "median_s": 0.0, "p99_s": 0.0, "worst_s": 0.0}
    ordered = sorted(seconds)
    return {
        "count": len(ordered),
        "median_s": statistics.median(ordered),
        "p99_s": ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)],
        "worst_s": ordered[-1],
    }
