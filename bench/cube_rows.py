"""The rows of a benchmark of cubes. Each row is a separate measurement with a full and a quick size, and the results of
all rows are written to one file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tqdm import tqdm

from bench.machine import machine
from bench.result_file import write_result
from broker.runtime.java import find_java

Rows = Mapping[str, tuple[Callable[[Any], Any], Any, Any]]
"""The function, the full sizes and the small sizes of each measurement, by the name of its row."""


def run_rows(
    benchmark: str, table: Rows, rows: Sequence[str], packages: Sequence[str], *, quick: bool, output_dir: Path
) -> tuple[Path, dict[str, Any]]:
    """Measure the rows ``rows`` of a benchmark's table, or all rows if ``rows`` is empty. Write the result file, and
    return its path and its content.

    A run of some rows writes ``BENCHMARK-NAMES.json``, and does not change the file of a whole run. ``packages``: the
    packages whose versions belong to the result.
    """
    chosen = [name for name in table if name in rows or not rows]
    measured = {}
    for name in tqdm(chosen, desc="rows", leave=False, disable=None):
        work, full, small = table[name]
        measured[name] = work(small if quick else full)
    result = {
        "benchmark": benchmark,
        "quick": quick,
        "machine": {**machine(), "java": find_java().version},
        "versions": {package: version(package) for package in packages},
        "rows": measured,
    }
    name = benchmark if len(chosen) == len(table) else f"{benchmark}-{'-'.join(chosen)}"
    return write_result(output_dir, name, result), result
