"""Back-tests, as ``asc match`` runs them: standing queries over files, and the choice between Arrow and Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from broker.backtest.backtest_result import BacktestResult
from broker.errors import InputError
from broker.files.decoding import Decoding
from broker.files.input_checks import check_columns
from broker.files.input_files import check_line_lengths
from broker.runtime.progress import Progress, print_to_stderr


@dataclass(frozen=True, slots=True)
class Backtest:
    """The result of a back-test, and the engine that computed it."""

    result: BacktestResult
    engine: Literal["arrow", "spark"]


def run_backtest(
    inputs: Sequence[Path],
    format_name: str,
    decoding: Decoding,
    queries: Mapping[str, str],
    output: Path | None,
    *,
    by_spark: bool = False,
    report: Progress = print_to_stderr,
) -> Backtest:
    """Match the rows of files, all in the format ``format_name``, with the queries.

    If ``output`` is set, write the accepted rows there as NDJSON with their ``queries``; otherwise count them per
    query. Exclude and count rows that a stream with that schema could not decode. Start Spark if it has to compute,
    write or decode something, or if ``by_spark`` is true. Check queries and files before that. Call ``report`` with one
    line that gives the reason for Spark. Raise AscError.
    """
    from asc.predicate import Limits
    from broker.backtest.plain_backtest import match_plainly, why_spark
    from broker.files.plain_rows import DoubtError
    from broker.matching.named_queries import normalised_queries

    if output is not None and output.exists():
        raise InputError("output", str(output), "exists already: remove it, or name another folder")
    normalised = list(normalised_queries(queries, decoding.schema, Limits(), decoding.time_zone))
    check_columns(inputs, format_name, decoding.schema, decoding.options)
    why = "as --spark says" if by_spark else "to write rows" if output is not None else why_spark(normalised)
    if why is None:
        try:
            return Backtest(match_plainly(inputs, format_name, decoding, queries), "arrow")
        except DoubtError as doubt:
            why = str(doubt)
    if format_name != "parquet":
        check_line_lengths(inputs)
    report(f"starting Spark: {why}")
    from broker.backtest.spark_backtest import match_by_spark

    return Backtest(match_by_spark(inputs, format_name, decoding, queries, output, report=report), "spark")
