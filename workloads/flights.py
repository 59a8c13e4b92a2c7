"""Flights out of New York in 2013: the sample packaged with the project, its schema and a dozen standing predicates.

The sample is drawn from the ``flights`` table of nycflights13 (see ``data/README.md``). The command ``python -m
workloads.flights flights.csv.gz`` generates it again from that table, byte for byte.
"""

from __future__ import annotations

import gzip
import random
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

SAMPLE_ROWS = 20_000
SAMPLE_SEED = 2013

SCHEMA = (
    "year INT, month INT, day INT, dep_time INT, sched_dep_time INT, dep_delay INT, arr_time INT, sched_arr_time INT, "
    "arr_delay INT, carrier STRING, flight INT, tailnum STRING, origin STRING, dest STRING, air_time INT, "
    "distance INT, hour INT, minute INT, time_hour TIMESTAMP"
)
"""The Spark DDL of the table: times of day as hhmm, delays and air time in minutes, distance in miles."""

QUERIES: Mapping[str, str] = MappingProxyType(
    {
        "late-arrivals": "arr_delay > 60",
        "long-hauls": "distance >= 2500",
        "night-departures": "hour >= 22 OR hour < 6",
        "cancelled": "dep_time IS NULL",
        "diverted": "dep_time IS NOT NULL AND air_time IS NULL",
        "pacific-coast": "dest IN ('LAX', 'PDX', 'SAN', 'SEA', 'SFO')",
        "christmas": "month = 12 AND day BETWEEN 20 AND 26",
        "made-up-for-it": "dep_delay >= 30 AND arr_delay <= 0",
        "slow-on-the-way": "arr_delay - dep_delay > 45",
        "tail-n7": "tailnum LIKE 'N7%'",
        "second-half": "origin = 'JFK' AND dest >= 'M'",
        "lands-next-day": "arr_time < dep_time",
        "new-year": "time_hour < TIMESTAMP '2013-01-02 05:00:00'",  # midnight in New York is 5 o'clock UTC
        "tail-names-carrier": "substring(tailnum, -2) = carrier AND NOT (origin = 'LGA')",
    }
)
"""Standing predicates by query id: comparisons, OR, IN, BETWEEN, NULL tests, arithmetic, a LIKE prefix, a comparison of
strings, a comparison of two columns, a timestamp, and a function.
"""


def sample_path() -> Path:
    """Return the path of the packaged sample: gzipped CSV with a header, and an empty field for a missing value."""
    return Path(__file__).parent / "data" / "flights.csv.gz"


def sample_lines() -> Iterator[str]:
    """Yield the lines of the packaged sample without their line ends, beginning with the header."""
    with gzip.open(sample_path(), "rt", encoding="utf-8", newline="") as lines:
        for line in lines:
            yield line.rstrip("\r\n")


def write_sample(source: Path, target: Path) -> int:
    """Draw a sample of `SAMPLE_ROWS` rows from the whole table ``source`` with a fixed seed, and write the sample into
    ``target``. Return the number of rows. The rows keep the order of the table.

    Rows stay unchanged except for missing values (a cancelled flight has no ``dep_time``). For a missing value the
    table has ``NA``, and the sample has an empty field. The same source gives the same bytes.
    """
    with gzip.open(source, "rb") as table:
        header, *rows = table.read().splitlines()
    chosen = sorted(random.Random(SAMPLE_SEED).sample(range(len(rows)), min(SAMPLE_ROWS, len(rows))))
    with target.open("wb") as raw, gzip.GzipFile("", "wb", compresslevel=9, fileobj=raw, mtime=0) as sample:
        sample.write(b"\n".join([header, *(_without_na(rows[i]) for i in chosen)]) + b"\n")
    return len(chosen)


def _without_na(row: bytes) -> bytes:
    return b",".join(b"" if field == b"NA" else field for field in row.split(b","))


if __name__ == "__main__":
    print(write_sample(Path(sys.argv[1]), sample_path()), "rows written to", sample_path())
