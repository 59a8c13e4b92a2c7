"""``asc bench``: the commands that run the benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from cli.bench_all import run_each
from cli.command import Group, examples
from cli.failure import CommandError
from cli.operators.commands import OPERATOR_COMMANDS
from cli.output import json_option, print_json

RESULTS = Path("bench") / "results"
QUICK_SCALE = 0.1

Decorator = Callable[[Callable[..., None]], Callable[..., None]]

_QUICK = click.option("--quick", is_flag=True, help="Small sizes: to see that it runs, not to measure.")
_TENTH = click.option("--quick", is_flag=True, help="A tenth of the full size, three seeds.")
_SCALE = click.option(
    "--scale", type=click.FloatRange(0, 1, min_open=True), default=1.0, hidden=True, help="Share of the full size."
)
_OUTPUT = click.option(
    "--output",
    "output_dir",
    type=click.Path(file_okay=False, path_type=Path),
    default=RESULTS,
    show_default=True,
    help="Folder for the result as JSON, and its plot.",
)

_DATA = click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    envvar="ASC_DATA_DIR",
    help="Folder of recorded tuples (ASC_DATA_DIR): flights, kddcup99, census, adsb; without it packaged or made ones.",
)


@click.group(
    cls=Group,
    epilog=examples(
        "asc bench match",
        "asc bench synthetic --quick",
        "asc bench all",
    ),
)
def bench() -> None:
    """Measure on this machine.

    Every figure is written as JSON with the machine beside it.
    """


def benchmark(
    module: str, *lines: str, options: Sequence[Decorator] = (_QUICK,)
) -> Callable[[Callable[[], None]], click.Command]:
    """Return a decorator that turns a function without a body into the command of a benchmark. ``module``: the name of
    the benchmark's module. ``lines``: the examples in the command's help. ``options``: the decorators of the command's
    options.

    The command has the function's name, and its help is the function's docstring. The module has a function ``run``,
    which receives the values of the options and the folder for results. Its function ``table`` formats the result of
    ``run`` as text.
    """

    def command(described: Callable[[], None]) -> click.Command:
        return _command(described.__name__, described.__doc__ or "", module, lines, options)

    return command


def _command(
    name: str, help_text: str, module: str, lines: Sequence[str], options: Sequence[Decorator]
) -> click.Command:
    def work(output_dir: Path, as_json: bool, quick: bool, scale: float | None = None, **more: Any) -> None:
        size = {"quick": quick} if scale is None else {"scale": QUICK_SCALE * scale if quick else scale}
        measured = import_module(module)
        result = measured.run(output_dir=output_dir, **size, **more)
        plots = "results and plots" if find_spec("matplotlib") else "results (plots need matplotlib)"
        click.echo(f"{plots} are in {output_dir}", err=True)
        if as_json:
            print_json(result)
        else:
            click.echo(measured.table(result))

    decorated: Callable[..., None] = json_option(work)
    last_first: tuple[Decorator, ...] = (_OUTPUT, *reversed(options))
    for option in last_first:
        decorated = option(decorated)
    return bench.command(name, help=help_text, epilog=examples(*lines))(decorated)


def add_operator_benchmarks(names: Iterable[str]) -> None:
    """Add the command of each operator kind that has a module ``bench.NAME`` and no command yet. The help of the
    command is the docstring of the module. ``names``: the names of the kinds.
    """
    for name in names:
        module = f"bench.{name}"
        spec = find_spec(module)
        if name in bench.commands or spec is None or spec.origin is None:
            continue
        # Read the docstring without an import of the module, because benchmarks load Spark and the kernels.
        _, _, source = Path(spec.origin).read_text("utf-8").partition('"""')
        text = " ".join(source.partition('"""')[0].split())
        lines = (f"asc bench {name}", f"asc bench {name} --quick --output /tmp/results")
        _command(name, f"Measure {text[:1].lower()}{text[1:]}", module, lines, (_QUICK,))


def benchmark_names() -> list[str]:
    """Return the names of the benchmarks, in the order in which this module defines their commands. ``asc bench all``
    runs this list.
    """
    return [name for name in bench.commands if name != every.name]


@bench.command(
    "all",
    epilog=examples(
        "asc bench all",
        "asc bench all --quick --output /tmp/results",
    ),
)
@_QUICK
@_OUTPUT
@json_option
def every(output_dir: Path, as_json: bool, quick: bool) -> None:
    """Run every benchmark in turn, each in a separate process. It takes hours.

    Print one line when a benchmark has ended, with the file that holds its tables. If one fails, the others still run,
    and the exit code is 1.
    """
    names, runs = benchmark_names(), []
    click.echo(f"1 of {len(names)}: {names[0]} ...", err=True)
    for number, run in enumerate(run_each(names, output_dir, quick=quick), 2):
        runs.append(run)
        if not as_json:
            click.echo(str(run))
        if number <= len(names):
            click.echo(f"{number} of {len(names)}: {names[number - 1]} ...", err=True)
    if as_json:
        print_json([{**asdict(run), "log": str(run.log), "reason": run.reason} for run in runs])
    failed = [run.name for run in runs if run.exit_code]
    if failed:
        raise CommandError("benchmarks", ", ".join(failed), f"failed: see their logs in {output_dir}")


def _figure(least: int, most: int) -> Decorator:
    """Add ``--figure``, which selects one figure of the paper. Without the option, the benchmark measures all figures
    from ``least`` to ``most``.
    """
    numbers = "|".join(str(number) for number in range(least, most + 1))
    return click.option(
        "--figure", type=click.IntRange(least, most), metavar=f"[{numbers}]", help="One figure of the paper, not all."
    )


_QUERIES = click.option(
    "--queries",
    type=click.IntRange(min=1),
    metavar="N",
    help="Queries in the block, each one conjunct; 100 without it.",
)


@benchmark("bench.match", "asc bench match", "asc bench match --quick --json")
def match() -> None:
    """Measure the executor alone: tuples per second, bytes per query and build time for 10 to 10,000 queries."""


@benchmark(
    "bench.scale",
    "asc bench scale --data recorded",
    "asc bench scale --quick --output /tmp/results",
    options=(_DATA, _QUICK),
)
def scale() -> None:
    """Measure the executor with 1,000 to 1,000,000 queries, of which few or many accept a tuple.

    The tuples are generated, and recorded ones of flights, network connections (KDD Cup 99) and the census, with
    constants drawn from them. Results are pairs of row and query, and ids, in large and small batches, on one core and
    on all. Rivals: a scan of every query that ends at the first predicate which fails, and vectorised brute force.
    """


@benchmark("bench.spark", "asc bench spark", "asc bench spark --quick --output /tmp/results")
def spark() -> None:
    """Measure broker.match over a Parquet input, beside Spark alone and the bare transport.

    With more than 1,000 predicates, up to 100,000, only the bare transport runs beside it.
    """


_PART = click.option(
    "--part",
    type=click.Choice(["cost", "gain"]),
    help="What the monitor costs, or what it gains, not both.",
)


@benchmark(
    "bench.monitor",
    "asc bench monitor",
    "asc bench monitor --part gain --quick",
    options=(_PART, _QUICK),
)
def monitor() -> None:
    """Measure the cost of the side monitor, and its gain on data that change slowly.

    The cost: batches through Spark with and without the monitor, in turns. The gain: 1,000 to 100,000 alerts over
    streams that drift, through the executor alone, in turns with fixed orders.
    """


@benchmark(
    "bench.registration",
    "asc bench registration",
    "asc bench registration --quick --output /tmp/results",
)
def registration() -> None:
    """Measure how long a user waits for a change of the standing queries while the stream is idle.

    A daemon on an embedded Kafka gets 10,000 queries as one bulk load. Then one more query is registered, replaced and
    removed over HTTP, and 'asc query add' and 'asc query check' run.
    """


@benchmark(
    "bench.validation",
    "asc bench validation",
    "asc bench validation --quick --output /tmp/results",
)
def validation() -> None:
    """Measure how long the API takes to validate each of 10,000 predicates that are as heavy as the limits allow."""


@benchmark("bench.stream", "asc bench stream", "asc bench stream --quick --output /tmp/results")
def stream() -> None:
    """Measure a backlog of 1,000,000 records in Kafka through a daemon: records per second with 10 to 100,000 queries.

    Rivals: a bare Spark job that decodes, filters and writes as many records, and a loop in plain Python that evaluates
    one predicate after the other. The phases of a batch are printed as well.
    """


@benchmark("bench.cluster", "asc bench cluster", "asc bench cluster --quick --output /tmp/results")
def cluster() -> None:
    """Measure a backlog of 2,000,000 records on a standalone cluster: records per second with 1 and 2 workers.

    The cluster, Kafka and the daemon share this machine. Each figure has its limit and the processor time of each kind
    of process. Predicates are also divided over two executors. Takes about half an hour.
    """


@benchmark("bench.spatial", "asc bench spatial", "asc bench spatial --quick --output /tmp/results")
def spatial() -> None:
    """Measure 1,000 to 1,000,000 geofences over positions of aircraft, and one star of 100,000 vertices.

    Rivals on one thread: shapely's tree of boxes and its prepared shapes; SedonaDB if it is installed (pip install
    sedonadb), and Sedona on Spark if ASC_SEDONA_JAR names its jar. Positions and shapes are recorded ones if
    ASC_DATA_DIR names their folder, otherwise generated ones.
    """


@benchmark("bench.patterns", "asc bench patterns", "asc bench patterns --quick --output /tmp/results")
def patterns() -> None:
    """Measure 100 to 100,000 LIKE patterns over generated log lines.

    Rivals: a compiled search for each query, and a join with the patterns as a table in DuckDB.
    """


@benchmark("bench.values", "asc bench values", "asc bench values --quick --output /tmp/results")
def values() -> None:
    """Measure 100 to 1,000,000 queries that each compare a column with one value: posting lists beside bitmaps.

    On one thread, with and without an additional range, and with several queries per value. The table says which of the
    two the compiler chooses.
    """


@benchmark("bench.peers", "asc bench peers", "asc bench peers --quick --output /tmp/results")
def peers() -> None:
    """Measure the same predicates over the same file in asc, DuckDB, Polars, Spark and compiled loops.

    Needs the packages duckdb and polars. Takes about ten minutes.
    """


@benchmark("bench.standing", "asc bench standing", "asc bench standing --quick --output /tmp/results")
def standing() -> None:
    """Measure up to 1,000,000 standing queries: bulk load, single and bulk changes while records flow, and starts.

    A daemon runs in a separate process on an embedded Kafka. Takes about ten minutes and 12 GB of memory.
    """


@benchmark("bench.publish", "asc bench publish", "asc bench publish --quick --output /tmp/results")
def publish() -> None:
    """Measure a CSV file of 1,000,000 rows sent to Kafka by 'asc publish', by a Python loop and by librdkafka."""


@benchmark("bench.recovery", "asc bench recovery", "asc bench recovery --quick --output /tmp/results")
def recovery() -> None:
    """Measure how long records wait after the daemon is killed, until a restart or a standby takes over.

    With 10,000 and 100,000 queries, and 500 records per second. Takes about fifteen minutes.
    """


@benchmark("bench.console", "asc bench console", "asc bench console --quick --output /tmp/results")
def console() -> None:
    """Measure how long the console's pages take over a million queries, and how much their use slows the stream.

    Each page is read twenty times, with searches that find nothing among them. Then a backlog is routed in turns, alone
    and while three browsers and Prometheus read pages. Takes about seven minutes.
    """


_ROWS = click.option(
    "--row",
    "rows",
    type=click.Choice(["fold", "answers", "pair", "stream", "commit", "register", "http"]),
    multiple=True,
    help="One row of the table, not all; repeatable.",
)


@benchmark(
    "bench.cube",
    "asc bench cube",
    "asc bench cube --row fold --row answers",
    "asc bench cube --row http --quick --output /tmp/results",
    options=(_ROWS, _QUICK),
)
def cube() -> None:
    """Measure standing cubes beside DuckDB, Polars and Spark, each on one thread.

    Row 'fold' folds a million records into twenty cubes, and row 'answers' asks for five cuboids over sixty panes. Row
    'pair' compares a cube with a topic whose records are inserted into DuckDB. Row 'stream' reads a backlog with and
    without cubes, and row 'commit' commits a batch to the file. Row 'register' adds three cubes to a running stream,
    and row 'http' asks questions while records arrive. The answers of all systems are compared before a figure is
    printed. Needs the packages duckdb and polars. Takes about half an hour.
    """


_HISTORY_ROWS = click.option(
    "--row",
    "rows",
    type=click.Choice(["views", "year", "ageing", "optimiser", "shards", "backfill"]),
    multiple=True,
    help="One row of the table, not all; repeatable.",
)


@benchmark(
    "bench.history",
    "asc bench history",
    "asc bench history --row views --row ageing",
    "asc bench history --row year --quick --output /tmp/results",
    options=(_HISTORY_ROWS, _QUICK),
)
def history() -> None:
    """Measure cubes that last for a year, beside DuckDB.

    Row 'views' folds records into a cube with up to thirty views, and row 'year' asks by month for a year of hours.
    Row 'ageing' merges a day of minutes into one pane while questions are asked. Row 'optimiser' compares chosen views
    with random ones, and row 'shards' splits and merges a shard of a large pane. Row 'backfill' reads past records,
    alone and beside a backlog. The answers of all systems are compared before a figure is printed. Row 'year' needs
    6 GB of disk space. Needs the package duckdb.
    """


_SKETCH_ROWS = click.option(
    "--row",
    "rows",
    type=click.Choice(["fold", "answers", "closed"]),
    multiple=True,
    help="One row of the table, not all; repeatable.",
)


@benchmark(
    "bench.sketches",
    "asc bench sketches",
    "asc bench sketches --row fold --row closed",
    "asc bench sketches --row answers --quick --output /tmp/results",
    options=(_SKETCH_ROWS, _QUICK),
)
def sketches() -> None:
    """Measure sketches in cubes beside datasketches, Spark and DuckDB, each on one thread.

    Row 'fold' folds a batch into co-moments, quantiles and distinct counts of up to 10,000 cells. Row 'answers' asks
    for a quantile and a distinct count by group, over ten million records. Row 'closed' asks for those of one cell.
    Approximate answers are compared with exact ones before a figure is printed. Needs the packages datasketches and
    duckdb, and 4 GB of memory.
    """


_DBSCAN_PART = click.option("--part", type=click.Choice(["ratios", "paper", "served"]), help="One part, not all.")


@benchmark(
    "bench.dbscan",
    "asc bench dbscan --data DIR",
    "asc bench dbscan --part ratios --quick --output /tmp/results",
    "asc bench dbscan --figure 30 --quick",
    options=(_DBSCAN_PART, _figure(18, 32), _DATA, _QUICK),
)
def dbscan() -> None:
    """Measure standing DBSCAN queries beside scikit-learn, dbscan, hdbscan, incdbscan and Extra-N, each on one thread.

    Part 'ratios' compares the cost of a slide of one query with that of a thousand queries. Part 'paper' measures
    figures 18 to 32 of the paper, and says which of its claims are confirmed. Part 'served' reads a backlog through a
    daemon with a thousand queries. Each figure has its goal beside it, met or missed. The labels of all systems are
    compared before a figure is printed. A peer that is not installed is not measured, and its goals say so. Points are
    recorded aircraft of the folder, or simulated aircraft, and generated heaps. Takes about forty minutes.
    """


add_operator_benchmarks(str(command.name) for command in OPERATOR_COMMANDS)


@benchmark("bench.latency", "asc bench latency", "asc bench latency --quick --output /tmp/results")
def latency() -> None:
    """Measure the time of a record through a daemon, from the producer's clock to the consumer's, after the start too.

    With 10 to 100,000 queries, at 2, 100 and 2,000 records per second. Rivals: the smallest jobs of Spark that read,
    cross into Python and write.
    """


_RATIOS = click.option("--ratios", is_flag=True, help="The table of Hybrid / SEQ_best, no figure.")


@benchmark(
    "bench.synthetic",
    "asc bench synthetic",
    "asc bench synthetic --figure 7 --quick",
    "asc bench synthetic --figure 6 --queries 1000 --output /tmp/results",
    "asc bench synthetic --ratios",
    options=(_figure(6, 8), _RATIOS, _QUERIES, _TENTH, _SCALE),
)
def synthetic() -> None:
    """Measure figures 6, 7 and 8 of the paper: evaluated constructs per tuple, on uniform and on skewed tuples.

    The orders are SEQ_best and SEQ_worst, Ticket Routing, Macro and Hybrid, with the time of the batch executor. The
    paper's claims are confirmed, refuted or left open by the intervals over the seeds. A table has Hybrid / SEQ_best
    over the numbers of queries and of p-attributes.
    """


@benchmark(
    "bench.census",
    "asc bench census",
    "asc bench census --figure 6 --json",
    options=(_figure(6, 7), _QUERIES, _TENTH, _SCALE),
)
def census() -> None:
    """Measure figures 6 and 7 of the paper on ten columns of Census-Income."""


@benchmark("bench.adaptation", "asc bench adaptation", "asc bench adaptation --quick", options=(_TENTH, _SCALE))
def adaptation() -> None:
    """Measure figure 9 of the paper: cost over time on a stream that changes, by rearrangement threshold.

    It compares the dropping-ratio trigger with the cost trigger, on a stream whose share of unmatched tuples stays the
    same while the best order turns round. It measures the seconds that finding a sequence takes.
    """
