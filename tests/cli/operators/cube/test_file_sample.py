"""Files decide the edges of bins: of ``asc cube run`` over the same files, with and without Spark."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

from asc.operators.cube.computed.bins import BinDimension
from cli.main import main

VALUES = [round(float(value), 2) for value in np.random.default_rng(3).normal(size=500)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a schema, and a CSV file of numbers and names."""
    folder = tmp_path_factory.mktemp("sample")
    (folder / "schema.ddl").write_text("x DOUBLE, name STRING", "utf-8")
    with (folder / "rows.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("x", "name"), *((value, f"n{place % 3}") for place, value in enumerate(VALUES))])
    return folder


def run(folder: Path, dimensions: str, *options: str) -> Any:
    schema = ["--schema", str(folder / "schema.ddl")]
    arguments = ["--dimensions", dimensions, "--measures", "count(*) AS n", *schema, *options, str(folder / "rows.csv")]
    return CliRunner().invoke(main, ["cube", "run", *arguments])


def counts(values: list[float], count: int) -> Counter[Any]:
    """Return the values of each bin, for the edges that the values decide."""
    edges = BinDimension("x", count, "x").with_edges_of(pa.array(values)).checked_edges.plain()
    return Counter(max((edge for edge in edges if edge <= value), default="-Infinity") for value in values)


def test_the_rows_of_the_files_decide(folder: Path) -> None:
    done = run(folder, "bins(x, 8)", "--by", "x:8", "--json")
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)["rows"]
    assert {row["group"]["x:8"]: row["n"] for row in rows} == counts(VALUES, 8)
    assert all(list(row["group"]) == ["x:2", "x:4", "x:8"] for row in rows)


def test_only_accepted_rows_decide(folder: Path) -> None:
    done = run(folder, "bins(x, 4)", "--where", "name = 'n1'", "--json")
    assert done.exit_code == 0, done.output
    own = [value for place, value in enumerate(VALUES) if place % 3 == 1]
    assert {row["group"]["x:4"]: row["n"] for row in json.loads(done.stdout)["rows"]} == counts(own, 4)


def test_without_a_number_of_bins_there_are_as_many_as_needed(folder: Path) -> None:
    done = run(folder, "bins(x)", "--json")
    assert done.exit_code == 0, done.output
    assert list(json.loads(done.stdout)["rows"][0]["group"]) == ["x:2", "x:4", "x:8", "x:16"]


@pytest.mark.spark
def test_an_expression_that_spark_computes_decides_too(folder: Path) -> None:
    done = run(folder, "bins(x * 2, 4) AS twice", "--json")
    assert done.exit_code == 0, done.output
    found = {row["group"]["twice:4"]: row["n"] for row in json.loads(done.stdout)["rows"]}
    assert sum(found.values()) == len(VALUES)
    assert found == counts([2 * value for value in VALUES], 4)


@pytest.mark.parametrize(
    ("dimension", "error"),
    [
        ("bins(name, 4)", "takes a number, and name is STRING"),
        ("bins(x, 3)", "is no number of bins: give a power of two from 2 to 256"),
        ("bins(y, 4)", "unknown column 'y'"),
    ],
)
def test_other_bins_are_refused(folder: Path, dimension: str, error: str) -> None:
    done = run(folder, dimension)
    assert (done.exit_code, error in done.output) == (1, True), done.output


def test_files_without_a_number_are_refused(folder: Path) -> None:
    done = run(folder, "bins(x, 4)", "--where", "x IS NULL")
    assert done.exit_code == 1
    assert "has no finite number in the sample" in done.output
