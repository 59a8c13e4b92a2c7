"""``asc dbscan run``: DBSCAN queries over a file, which is processed like a stream with one partition."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from broker.files.decoding import Decoding
from broker.files.input_checks import check_columns
from broker.files.input_files import check_line_lengths
from cli.failure import CommandError
from cli.operators.dbscan.file_columns import Asked, FileColumns, plain_columns
from cli.operators.dbscan.file_feed import POINTS_OF_A_WINDOW, feed
from cli.operators.dbscan.file_queries import FileQuery
from cli.operators.dbscan.label_files import label_files
from cli.operators.dbscan.record_file import RecordFile, record_file
from cli.output import counted, print_json, print_table

if TYPE_CHECKING:
    from asc.operators.dbscan.records import DbscanOutput


@dataclass(slots=True)
class QueryWindows:
    """The windows of a query: their number, the number of skipped ones, and the record of the last window."""

    windows: int = 0
    skipped: int = 0
    last: Mapping[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class DbscanRun:
    """The windows of queries over a file, and the number of rows by outcome."""

    queries: dict[str, QueryWindows]
    rows: int = 0
    excluded: Mapping[str, int] = field(default_factory=dict)
    engine: str = "arrow"
    undecodable: int = 0
    first_undecodable: str | None = None


def points_of_a_window(config_file: Path | None) -> int:
    """Return the most points of a window: ``limits.stream_dbscan_points`` of a configuration file, or its default."""
    if config_file is None:
        return POINTS_OF_A_WINDOW
    from broker.config.config import load_config

    return load_config(config_file).limits.stream_dbscan_points


def run_queries(
    path: Path,
    format_name: str,
    decoding: Decoding,
    queries: Sequence[FileQuery],
    *,
    batch: int,
    lateness_s: float,
    labels: Path | None,
    records: Path | None,
    points_max: int = POINTS_OF_A_WINDOW,
) -> DbscanRun:
    """Run DBSCAN queries over the rows of a file. Raise AscError if an input is refused.

    Spark is started if it has to compute an expression. ``labels``: a folder for files of labels. ``records``: a file
    for the records of all windows. ``points_max``: the most points of a window. If a file cannot be written, raise
    AscError with the name of the file; no part of the file remains.
    """
    for query in queries:
        definition = query.definition
        if not definition.is_timed and definition.window > points_max:
            most = f"{query.id}: a window has at most {points_max:,} points"
            remedy = f"{most}: shorten it, or raise limits.stream_dbscan_points in --config"
            raise CommandError("window_points", definition.window, remedy)
    check_columns([path], format_name, decoding.schema, decoding.options)
    run = DbscanRun({query.id: QueryWindows() for query in queries})
    columns = _columns(path, format_name, decoding, queries, run)
    run.rows = columns.count
    with ExitStack() as stack:
        on_labels = None
        if labels is not None:
            on_labels = stack.enter_context(label_files(labels, run.queries)).add
        file = None if records is None else stack.enter_context(record_file(records))
        run.excluded = feed(
            queries,
            columns,
            batch=batch,
            lateness_us=round(lateness_s * 1_000_000),
            take=_taking(run, file),
            on_labels=on_labels,
            points_max=points_max,
        )
    return run


def _columns(
    path: Path, format_name: str, decoding: Decoding, queries: Sequence[FileQuery], run: DbscanRun
) -> FileColumns:
    from broker.files.plain_rows import DoubtError

    asked = Asked.of(queries)
    why = asked.why_spark()
    if why is None:
        try:
            return plain_columns(path, format_name, decoding, asked)
        except DoubtError as doubt:
            why = str(doubt)
    if format_name != "parquet":
        check_line_lengths([path])
    click.echo(f"starting Spark: {why}", err=True)
    from cli.operators.dbscan.by_spark import columns_by_spark

    columns, seen = columns_by_spark(path, format_name, decoding, asked)
    run.engine, run.undecodable, run.first_undecodable = "spark", seen.undecodable, seen.first_undecodable
    return columns


def _taking(run: DbscanRun, file: RecordFile | None) -> Callable[[DbscanOutput], None]:
    def take(output: DbscanOutput) -> None:
        if file is not None:
            file.write(output.value)
        if output.kind == "window":
            own = run.queries[output.query]
            own.windows += 1
            own.last = json.loads(output.value)
            own.skipped += "skipped" in own.last

    return take


def show_run(run: DbscanRun, *, as_json: bool) -> None:
    """Print the windows of queries. Raise CommandError if no row could be decoded."""
    if 0 < run.rows == run.undecodable:
        remedy = f"the first: {run.first_undecodable}; name the stream's options with --config or --option"
        raise CommandError("none could be decoded, rows", run.rows, remedy)
    if run.undecodable:
        rows = counted(run.undecodable, "row")
        click.echo(f"warning: {rows} cannot be decoded, excluded; the first: {run.first_undecodable}", err=True)
    if as_json:
        own = {
            query: {"windows": found.windows, "skipped": found.skipped, "last": found.last or None}
            for query, found in run.queries.items()
        }
        records = {"read": run.rows, "undecodable": run.undecodable, **run.excluded}
        print_json({"queries": own, "records": records, "engine": run.engine})
        return
    table = []
    for query, found in run.queries.items():
        window = found.last.get("window")
        end = window[1] if isinstance(window, list) else None
        last = [found.last.get(name) for name in ("points", "clusters", "noise")]
        table.append([query, found.windows, found.skipped, *last, end])
    print_table(["query", "windows", "skipped", "points", "clusters", "noise", "end of last window"], table)
    excluded = "".join(f", {count:,} excluded: {reason}" for reason, count in run.excluded.items())
    how = " (without Spark)" if run.engine == "arrow" else ""
    click.echo(f"{counted(run.rows, 'row')} read{excluded}{how}")
