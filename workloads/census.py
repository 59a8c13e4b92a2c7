"""Ten integer columns of the data set Census-Income, packaged with the project. Benchmarks call this data set D3, as
the paper does.

The paper used a million tuples of "US Census 1999" from the UCI archive, which are not available to us. They are
replaced by Census-Income (KDD), the surveys of 1994 and 1995 from the same archive (see ``data/README.md``). The
command ``python -m workloads.census census-income.csv.gz`` generates the packaged copy from that file.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv
import pyarrow.parquet as pq

from workloads.errors import WorkloadError
from workloads.synthetic import Integers

ROWS = 199_523

COLUMNS: Mapping[str, int] = MappingProxyType(
    {
        "age": 0,
        "industry": 2,
        "occupation": 3,
        "wage_per_hour": 5,
        "capital_gains": 16,
        "capital_losses": 17,
        "dividends": 18,
        "employer_size": 30,
        "veterans_benefits": 38,
        "weeks_worked": 39,
    }
)
"""The packaged columns by name, each with the number of its column in the source. The source has twelve integer
columns. Own business and year are not packaged, because they have only three and two distinct values.
"""

_REMEDY = "install asc-broker again, or make the file: python -m workloads.census census-income.csv.gz"


def census_path() -> Path:
    """Return the path of the packaged columns, a Parquet file with a checksum for each page."""
    return Path(__file__).parent / "data" / "census.parquet"


def census_tuples(path: Path | None = None) -> pa.Table:
    """Return the 199,523 tuples in the order of the source. They have ten int32 columns without NULLs.

    Raises WorkloadError if the file is missing or damaged.
    """
    source = path or census_path()
    try:
        table = pq.read_table(source, page_checksum_verification=True)
    except FileNotFoundError:
        raise WorkloadError("missing census file", str(source), _REMEDY) from None
    except (OSError, pa.ArrowException):
        raise WorkloadError("damaged census file", str(source), _REMEDY) from None
    if table.schema.names != list(COLUMNS) or table.num_rows != ROWS or any(c.null_count for c in table.columns):
        raise WorkloadError("census file with other contents", str(source), _REMEDY)
    return table.cast(pa.schema([(name, pa.int32()) for name in COLUMNS]))


def distinct_values(table: pa.Table) -> list[Integers]:
    """Return the sorted distinct values of each column. The predicates over the data set D3 are drawn from these
    values.
    """
    return [np.sort(pc.unique(column).to_numpy()).astype(np.int64) for column in table.columns]


def write_census(source: Path, target: Path) -> int:
    """Copy the ten columns from the whole table ``source`` into the Parquet file ``target``, and return the number of
    tuples written. ``source``: a CSV file without a header, gzipped or not.

    Values and order stay unchanged.
    """
    numbered = pv.ReadOptions(autogenerate_column_names=True)
    wanted = pv.ConvertOptions(
        include_columns=[f"f{place}" for place in COLUMNS.values()],
        column_types={f"f{place}": pa.int32() for place in COLUMNS.values()},
    )
    table = pv.read_csv(source, read_options=numbered, convert_options=wanted).rename_columns(list(COLUMNS))
    pq.write_table(table, target, compression="zstd", compression_level=19, write_page_checksum=True)
    return int(table.num_rows)


if __name__ == "__main__":
    print(write_census(Path(sys.argv[1]), census_path()), "tuples written to", census_path())
