"""Functions that load three data sets of recorded tuples: flights, network connections (KDD Cup 1999) and the census.

The project packages a sample of the flights and ten columns of the census. The whole tables, and the connections, are
read from a folder. The user names the folder with ``--data DIR`` of ``asc bench scale``, or with the variable
``ASC_DATA_DIR``. The folder contains ``flights/flights.csv.gz``, ``kddcup99/kddcup.data_10_percent.gz`` and
``census/census_income_1994_1995_train.csv.gz``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv

from asc.schema import Schema
from workloads import flights
from workloads.census import census_tuples
from workloads.errors import MissingDataError, WorkloadError

VARIABLE = "ASC_DATA_DIR"
"""The environment variable that names the folder of recorded tuples. Tests use it, and so does the benchmark without
the option ``--data``.
"""

FLIGHTS_FILE = Path("flights", "flights.csv.gz")
CONNECTIONS_FILE = Path("kddcup99", "kddcup.data_10_percent.gz")
CENSUS_FILE = Path("census", "census_income_1994_1995_train.csv.gz")

CONNECTIONS_DDL = (
    "duration INT, protocol_type STRING, service STRING, flag STRING, src_bytes INT, dst_bytes INT, land INT, "
    "wrong_fragment INT, urgent INT, hot INT, num_failed_logins INT, logged_in INT, num_compromised INT, "
    "root_shell INT, su_attempted INT, num_root INT, num_file_creations INT, num_shells INT, num_access_files INT, "
    "num_outbound_cmds INT, is_host_login INT, is_guest_login INT, count INT, srv_count INT, serror_rate DOUBLE, "
    "srv_serror_rate DOUBLE, rerror_rate DOUBLE, srv_rerror_rate DOUBLE, same_srv_rate DOUBLE, diff_srv_rate DOUBLE, "
    "srv_diff_host_rate DOUBLE, dst_host_count INT, dst_host_srv_count INT, dst_host_same_srv_rate DOUBLE, "
    "dst_host_diff_srv_rate DOUBLE, dst_host_same_src_port_rate DOUBLE, dst_host_srv_diff_host_rate DOUBLE, "
    "dst_host_serror_rate DOUBLE, dst_host_srv_serror_rate DOUBLE, dst_host_rerror_rate DOUBLE, "
    "dst_host_srv_rerror_rate DOUBLE, label STRING"
)
"""The Spark DDL of a connection: 41 features and the label, with the names of the archive."""

CENSUS_DDL = (
    "age INT, class_of_worker STRING, industry INT, occupation INT, education STRING, wage_per_hour INT, "
    "enrolled STRING, marital_status STRING, major_industry STRING, major_occupation STRING, race STRING, "
    "hispanic_origin STRING, sex STRING, union_member STRING, reason_for_unemployment STRING, employment STRING, "
    "capital_gains INT, capital_losses INT, dividends INT, tax_filer STRING, region_before STRING, "
    "state_before STRING, household_detail STRING, household_summary STRING, weight DOUBLE, migration_msa STRING, "
    "migration_region STRING, migration_within_region STRING, same_house STRING, sunbelt_before STRING, "
    "employer_size INT, parents_present STRING, father_birth STRING, mother_birth STRING, own_birth STRING, "
    "citizenship STRING, own_business INT, veterans_questionnaire STRING, veterans_benefits INT, weeks_worked INT, "
    "year INT, income STRING"
)
"""The Spark DDL of the training part of the census: 42 columns, and NULL for a missing value."""

_KDD_REMEDY = (
    "name the folder by --data DIR or ASC_DATA_DIR; the file comes from "
    "https://archive.ics.uci.edu/dataset/130/kdd+cup+1999+data"
)


def flight_tuples(folder: Path | None = None) -> pa.Table:
    """Return the 336,776 flights of the folder. If the folder has no flights, return the packaged sample of 20,000
    flights.

    The flights have 19 columns: ints, strings and a timestamp. A missing value is NULL (a cancelled flight did not
    depart).
    """
    file = _found(folder, FLIGHTS_FILE)
    return _read(file or flights.sample_path(), flights.SCHEMA, missing=("", "NA"), header=True)


def connection_tuples(folder: Path | None = None) -> pa.Table:
    """Return the 494,021 connections of the folder, which are the tenth of all connections that the archive offers. The
    columns are ints, doubles and strings.

    No connections are packaged. Raises MissingDataError if the folder has no connections; the message says where the
    file comes from.
    """
    file = _found(folder, CONNECTIONS_FILE)
    if file is None:
        place = CONNECTIONS_FILE if folder is None else folder / CONNECTIONS_FILE
        raise MissingDataError("missing KDD Cup 99 connections", str(place), _KDD_REMEDY)
    return _read(file, CONNECTIONS_DDL, missing=(), header=False)


def survey_tuples(folder: Path | None = None) -> pa.Table:
    """Return the whole census of the folder: 199,523 tuples of 42 columns. If the folder has no census, return the
    packaged ten int columns of the same tuples.
    """
    file = _found(folder, CENSUS_FILE)
    return census_tuples() if file is None else _read(file, CENSUS_DDL, missing=("?",), header=False)


REAL_DATA: Mapping[str, Callable[[Path | None], pa.Table]] = MappingProxyType(
    {"flights": flight_tuples, "KDD Cup 99": connection_tuples, "census": survey_tuples}
)
"""By the name of each data set: the function that returns the tuples of the data set."""


def _found(folder: Path | None, file: Path) -> Path | None:
    return folder / file if folder is not None and (folder / file).is_file() else None


def _read(file: Path, ddl: str, *, missing: tuple[str, ...], header: bool) -> pa.Table:
    """Read a CSV file, gzipped or not, and return a table with the types of the schema. Leading and trailing blanks of
    strings are removed.
    """
    schema = Schema.from_ddl(ddl).arrow
    # Strings become NULL after they are trimmed: the census has a blank after each comma.
    convert = pv.ConvertOptions(column_types=schema, null_values=list(missing), strings_can_be_null=False)
    try:
        table = pv.read_csv(
            file,
            read_options=pv.ReadOptions(column_names=schema.names, skip_rows=1 if header else 0),
            convert_options=convert,
        )
    except (OSError, pa.ArrowException) as error:
        raise WorkloadError("damaged file", str(file), f"fetch it again ({error})") from None
    columns = [_trimmed(column, missing) if pa.types.is_string(column.type) else column for column in table.columns]
    return pa.table(columns, schema=schema).combine_chunks()


def _trimmed(column: pa.ChunkedArray, missing: tuple[str, ...]) -> pa.ChunkedArray:
    trimmed = pc.utf8_trim_whitespace(column)
    is_missing = pc.is_in(trimmed, value_set=pa.array(missing, pa.string()))
    return pc.if_else(is_missing, pa.scalar(None, pa.string()), trimmed)
