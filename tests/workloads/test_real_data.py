"""Recorded tuples: what is packaged, what a folder has, and one clear line for what is missing or damaged."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pytest

from asc.schema import Schema
from workloads.errors import MissingDataError, WorkloadError
from workloads.flights import SAMPLE_ROWS, SCHEMA
from workloads.real_data import (
    CENSUS_DDL,
    CENSUS_FILE,
    CONNECTIONS_DDL,
    CONNECTIONS_FILE,
    FLIGHTS_FILE,
    REAL_DATA,
    connection_tuples,
    flight_tuples,
    survey_tuples,
)

FLIGHT = "2013,1,1,NA,515,2,830,819,NA,UA,1545,N14228,EWR,IAH,227,1400,5,15,2013-01-01T10:00:00Z"
CONNECTION = f"0,tcp,http,SF,181,5450{',0' * 18}{',0.25' * 7},9,9{',1.00' * 8},normal."
SURVEY = (
    "73, Not in universe, 0, 0, High school graduate, 0, Not in universe, Widowed, Retail, Sales, White, All other, "
    "Female, No, No, Children, 0, 0, 0, Nonfiler, South, ?, Spouse, Other, 1700.09, ?, ?, ?, Yes, ?, 0, Both, ?, "
    "United-States, Mexico, Native, 0, No, 2, 52, 95, - 50000."
)


def put(folder: Path, file: Path, *lines: str) -> Path:
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    (folder / file).write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))
    return folder


def test_what_is_packaged(tmp_path: Path) -> None:
    for folder in (None, tmp_path):
        flights, surveys = flight_tuples(folder), survey_tuples(folder)
        assert (flights.num_rows, flights.schema) == (SAMPLE_ROWS, Schema.from_ddl(SCHEMA).arrow)
        assert flights["dep_time"].null_count > 400
        assert flights["tailnum"].null_count > 100
        assert (surveys.num_rows, surveys.num_columns) == (199_523, 10)


def test_flights_of_a_folder(tmp_path: Path) -> None:
    flights = flight_tuples(put(tmp_path, FLIGHTS_FILE, ",".join(flight_tuples().schema.names), FLIGHT))
    (row,) = flights.to_pylist()
    assert flights.schema == flight_tuples().schema
    assert (row["dep_time"], row["arr_delay"], row["carrier"], row["minute"]) == (None, None, "UA", 15)
    assert row["time_hour"].isoformat() == "2013-01-01T10:00:00+00:00"


def test_connections_of_a_folder(tmp_path: Path) -> None:
    connections = connection_tuples(put(tmp_path, CONNECTIONS_FILE, CONNECTION, CONNECTION))
    assert (connections.num_rows, connections.schema) == (2, Schema.from_ddl(CONNECTIONS_DDL).arrow)
    row = connections.to_pylist()[0]
    assert (row["src_bytes"], row["srv_diff_host_rate"], row["dst_host_count"]) == (181, 0.25, 9)
    assert (row["dst_host_srv_rerror_rate"], row["label"]) == (1.0, "normal.")


def test_surveys_of_a_folder(tmp_path: Path) -> None:
    surveys = survey_tuples(put(tmp_path, CENSUS_FILE, SURVEY))
    assert surveys.schema == Schema.from_ddl(CENSUS_DDL).arrow
    (row,) = surveys.to_pylist()
    assert (row["age"], row["education"], row["weight"]) == (73, "High school graduate", 1700.09)
    assert (row["state_before"], row["father_birth"], row["mother_birth"]) == (None, None, "United-States")
    assert (row["weeks_worked"], row["income"]) == (52, "- 50000.")


def test_connections_that_are_missing_are_one_line(tmp_path: Path) -> None:
    for folder in (None, tmp_path):
        with pytest.raises(MissingDataError) as raised:
            connection_tuples(folder)
        assert "\n" not in str(raised.value)
        assert str(CONNECTIONS_FILE) in str(raised.value)
        assert "--data DIR or ASC_DATA_DIR" in str(raised.value)


@pytest.mark.parametrize(
    ("name", "file"), list(zip(REAL_DATA, (FLIGHTS_FILE, CONNECTIONS_FILE, CENSUS_FILE), strict=True))
)
def test_a_damaged_file_is_one_line(tmp_path: Path, name: str, file: Path) -> None:
    put(tmp_path, file, "head", "a,b,c")
    with pytest.raises(WorkloadError, match="damaged file"):
        REAL_DATA[name](tmp_path)
    (tmp_path / file).write_bytes(b"\x1f\x8b not what it says")
    with pytest.raises(WorkloadError, match="damaged file") as raised:
        REAL_DATA[name](tmp_path)
    assert "\n" not in str(raised.value)


def test_types_are_those_of_the_schema() -> None:
    assert pa.types.is_float64(Schema.from_ddl(CONNECTIONS_DDL).arrow.field("serror_rate").type)
