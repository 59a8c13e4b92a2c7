"""Media types of files with tables, in the header Content-Type of uploads."""

from __future__ import annotations

CSV_TYPE, PARQUET_TYPE = "text/csv", "application/vnd.apache.parquet"
