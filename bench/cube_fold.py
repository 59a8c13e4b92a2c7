"""The time to roll up batches of sales into twenty cubes: the engine compared with DuckDB, Polars and Spark."""

from __future__ import annotations

import multiprocessing
import os
import statistics
import tempfile
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather

from bench.cpu_time import cpu_s
from bench.cube_contenders import CONTENDERS, DUCKDB, ENGINE, PANE, POLARS, SPARK
from bench.cube_tables import check_equal, rolled_up
from workloads.sales import NARROW, WIDE, SalesCube, sales, sales_cubes

WORKLOADS = {"wide": WIDE, "narrow": NARROW}


@dataclass(frozen=True, slots=True)
class FoldSize:
    """The size of the measurement. ``records``: the number of records. ``batches``: the sizes of a batch in records.
    ``cubes``: the number of cubes. Spark runs once, over at most ``spark_batches`` batches. The other contenders run
    ``repetitions`` times over all batches.
    """

    records: int
    batches: tuple[int, ...]
    spark_batches: int
    repetitions: int
    cubes: int


FULL = FoldSize(1_000_000, (100_000, 10_000), 10, 3, 20)
QUICK = FoldSize(6_000, (3_000,), 1, 1, 4)


def fold(size: FoldSize) -> list[dict[str, Any]]:
    """Measure the time of each contender. Return one entry per workload, batch size and contender.

    Raises RuntimeError if the groups of a cube differ from the engine's groups.
    """
    results = []
    cubes = list(sales_cubes(size.cubes))
    for workload, values in WORKLOADS.items():
        records = sales(size.records, values)
        for batch in size.batches:
            with tempfile.TemporaryDirectory(prefix="asc-bench-") as name:
                paths = _written(Path(name), records, batch)
                results += [{"workload": workload, **own} for own in _contest(Path(name), paths, cubes, batch, size)]
    return results


def _contest(
    folder: Path, paths: list[Path], cubes: list[SalesCube], batch: int, size: FoldSize
) -> list[dict[str, Any]]:
    """Return the figures of all contenders over the same batches. The answers of all contenders are compared with the
    engine's.
    """
    seconds: dict[str, list[float]] = {name: [] for name in CONTENDERS}
    for turn in range(size.repetitions):
        for name in CONTENDERS:
            # Spark is so much slower that one run over some of the batches suffices.
            if name == SPARK and turn:
                continue
            given = paths[: size.spark_batches] if name == SPARK else paths
            seconds[name].append(_measured(name, given, cubes, folder / name))
    # Run the engine over the same batches, only for the comparison with Spark.
    _measured(ENGINE, paths[: size.spark_batches], cubes, folder / "of-spark")
    cells = 0
    for cube in cubes:
        keys = [PANE, *cube.dimensions]
        own = rolled_up(_answer(folder / ENGINE, cube), keys)
        cells += own.num_rows
        for name in (DUCKDB, POLARS):
            check_equal(f"{name}, {cube.id}", own, rolled_up(_answer(folder / name, cube), keys), keys)
        first = rolled_up(_answer(folder / "of-spark", cube), keys)
        check_equal(f"{SPARK}, {cube.id}", first, rolled_up(_answer(folder / SPARK, cube), keys), keys)
    results = []
    for name, own_s in seconds.items():
        records = batch * len(paths[: size.spark_batches] if name == SPARK else paths)
        rate = round(records / statistics.median(own_s), 1)
        results.append(
            {"batch": batch, "contender": name, "records": records, "runs_s": own_s, "records_a_s": rate}
            | {"cubes": len(cubes), "cells": cells}
        )
    return results


def _written(folder: Path, records: pa.Table, batch: int) -> list[Path]:
    paths = []
    for number in range(records.num_rows // batch):
        paths.append(folder / f"{number:04d}.parquet")
        pq.write_table(records.slice(number * batch, batch), paths[-1])
    return paths


def _answer(folder: Path, cube: SalesCube) -> pa.Table:
    return feather.read_table(folder / f"{cube.id}.arrow")


def _measured(name: str, paths: list[Path], cubes: list[SalesCube], answers: Path) -> float:
    """Run a contender in a separate process, and return its seconds. The contender writes its answers as files into the
    folder ``answers``.
    """
    answers.mkdir(exist_ok=True)
    context = multiprocessing.get_context("spawn")
    own, others = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(others, name, paths, cubes, answers), daemon=True)
    process.start()
    others.close()
    try:
        seconds: float = own.recv()
    except EOFError:
        raise RuntimeError(f"{name}: its process has ended: see the lines above") from None
    finally:
        process.join(timeout=60)
        process.kill()
    return seconds


def _run(connection: Connection, name: str, paths: list[Path], cubes: list[SalesCube], answers: Path) -> None:
    # Set this before Polars is imported, because Polars creates its threads at import.
    os.environ["POLARS_MAX_THREADS"] = "1"
    pa.set_cpu_count(1)
    contender = CONTENDERS[name](paths, cubes)  # type: ignore[call-arg]
    contender.add(0)
    contender.clear()
    clock = cpu_s if name == SPARK else time.process_time
    start_s, start_cpu_s = time.perf_counter(), clock()
    for number in range(len(paths)):
        contender.add(number)
    spent_s, taken_s = clock() - start_cpu_s, time.perf_counter() - start_s
    for cube in cubes:
        feather.write_feather(contender.parts(cube).combine_chunks(), answers / f"{cube.id}.arrow", "uncompressed")
    # Report the shorter of processor time and elapsed time, so that neither the time of helper threads nor waits on a
    # busy machine count against a contender.
    connection.send(round(min(spent_s, taken_s), 4))
