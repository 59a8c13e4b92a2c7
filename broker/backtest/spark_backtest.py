"""Back-tests by Spark: standing queries over files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from broker.backtest.backtest_result import BacktestResult
from broker.files.decoded_rows import decoded_rows, observed
from broker.files.decoding import Decoding
from broker.runtime.progress import Progress, print_to_stderr


def match_by_spark(
    inputs: Sequence[Path],
    format_name: str,
    decoding: Decoding,
    queries: Mapping[str, str],
    output: Path | None,
    *,
    report: Progress = print_to_stderr,
) -> BacktestResult:
    """Match the rows of the files with all queries, in one pass over the files.

    If ``output`` is set, write the accepted rows there as NDJSON with their ``queries``. Raise AscError.
    """
    from pyspark.sql import Observation
    from pyspark.sql import functions as sf

    from broker.matching.dataframe import match

    schema = decoding.schema
    with decoded_rows(inputs, format_name, decoding, app_name="asc-match", progress="matching", report=report) as rows:
        accepted = Observation("accepted")
        count = sf.count(sf.lit(1)).alias("rows")
        matched = match(rows.frame, queries, crs=schema.crs, layers=schema.layers).observe(accepted, count)
        by_query: dict[str, int] = {}
        if output is None:
            ids = matched.select(sf.explode("queries").alias("query"))
            found = {row["query"]: row["count"] for row in ids.groupBy("query").count().collect()}
            by_query = {query_id: found.get(query_id, 0) for query_id in queries}
        else:
            matched.write.json(str(output), compression="gzip")
        seen = rows.seen
        count_accepted = observed(rows.spark, accepted)["rows"]
    return BacktestResult(seen.rows, count_accepted, by_query, seen.undecodable, seen.first_undecodable)
