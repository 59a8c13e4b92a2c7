"""``asc publish``: send the rows of a file into a stream's source topic."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.arguments import stream_option
from cli.client import kafka_of, kafka_options, stream_of
from cli.command import Command, examples
from cli.output import counted, json_option, print_json

if TYPE_CHECKING:
    from tqdm import tqdm

    from asc.schema import Schema
    from broker.client.client import Client
    from broker.files.records import OddLine, RecordBatch
    from broker.kafka.client import KafkaClient


@click.command(
    cls=Command,
    epilog=examples(
        "asc publish --stream flights flights.csv.gz",
        "asc publish --stream flights --key carrier flights.parquet",
        "tail -f flights.ndjson | asc publish --stream flights -",
        "zcat flights.csv.gz | asc publish --stream flights --format csv -",
    ),
)
@stream_option("The stream to publish into; needed where there are several.")
@click.option("--key", metavar="COLUMN", help="The column whose text becomes the record's key.")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["ndjson", "csv", "parquet"]),
    help="The format of FILE, where its name does not say it; of standard input ndjson, unless this says csv.",
)
@click.option("--force", is_flag=True, help="Publish also a file that shares no column with the stream's schema.")
@click.option(
    "--skip",
    type=click.IntRange(min=0),
    default=0,
    help="Leave out the first so many records: those that are there already, as an interrupted publish says.",
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@kafka_options
@json_option
def publish(
    *,
    client: Client,
    config_file: Path | None,
    stream: str | None,
    key: str | None,
    format_name: str | None,
    force: bool,
    skip: int,
    file: Path,
    as_json: bool,
) -> None:
    """Send the rows of a file into a stream's source topic.

    They are sent in order, each in the stream's format, times of CSV and Parquet by the patterns of its options. FILE
    is CSV with a header (an empty field is NULL), NDJSON or Parquet, by the end of its name. The suffix .gz may follow.
    - is standard input, line by line as it comes, until it ends, or Ctrl-C or SIGTERM.

    Lines of NDJSON that are no JSON objects are counted, and the first is named. Into a JSON stream they are sent as
    they are, with --key without a key, and end up among its dead letters; into a CSV stream they are not sent.

    Kafka's address comes from the daemon; where it asks for TLS or SASL, --config names the file that has them.
    """
    from tqdm import tqdm

    from asc.schema import Schema
    from broker.files.input_files import STDIN, file_format
    from broker.files.records import OddLines, Skip, Target, read_batches
    from cli.failure import CommandError

    if file == STDIN and format_name == "parquet":
        raise CommandError("--format", "parquet", "is read from its end: name a file, not standard input")
    own_format = format_name or ("ndjson" if file == STDIN else file_format(file))
    entry = stream_of(client, stream)
    schema = Schema.from_ddl(entry["schema"])
    target = Target(entry["format"], schema, entry.get("options", {}), entry.get("time_zone", "UTC"))
    kafka = kafka_of(client, config_file)
    odd = OddLines(_judge_line(file, target.format, entry["dead_letter_topic"], force=force))
    size_bytes = None if file == STDIN else file.stat().st_size
    with (
        _ended_by_sigterm_as_by_ctrl_c(),
        tqdm(total=size_bytes, unit="B", unit_scale=True, desc=file.name, disable=_no_bar(file)) as bar,
    ):
        batches = read_batches(
            file,
            own_format,
            target,
            key,
            advance=lambda done: bar.update(done - bar.n),
            on_columns=_judge(file, schema, warned=own_format != "ndjson", force=force),
            odd_lines=odd,
            skip=(left := Skip(skip)),
        )
        count, interrupted = _sent(kafka, entry["topic"], batches, skip, bar)
    if left.left and not interrupted:
        there = counted(skip - left.left, "record")
        raise CommandError(
            "--skip", str(skip), f"is more than {file} has, which is {there}: name the file that was begun"
        )
    if odd.count > 1:
        click.echo(f"warning: {odd.count:,} lines are no JSON objects, the first of them line {odd.first}", err=True)
    if as_json:
        malformed = {"malformed": odd.count, "first_malformed": odd.first}
        print_json({"stream": entry["name"], "topic": entry["topic"], "records": count, **malformed})
    else:
        click.echo(f"{counted(count, 'record')} published to {entry['topic']}")
    if interrupted and file != STDIN:
        remedy = f"'--skip {skip + count}' goes on with it"
        click.echo(f"interrupted: the rest of the file was not published, {remedy}", err=True)
        raise click.exceptions.Exit(130)


@contextmanager
def _ended_by_sigterm_as_by_ctrl_c() -> Iterator[None]:
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _no_bar(file: Path) -> bool | None:
    """Return True, which means no progress bar, if the input has no known end. Otherwise return None, which means a bar
    on a terminal.
    """
    from broker.files.input_files import STDIN

    return True if file == STDIN else None


def _judge(file: Path, schema: Schema, *, warned: bool, force: bool) -> Callable[[Sequence[str], bool], None]:
    """Return a function that checks a file's columns before the first record is sent. It prints warnings, or refuses
    the file.
    """
    from broker.files.shared_columns import check_shared, column_warnings

    def judge(columns: Sequence[str], by_case: bool) -> None:
        if not force:
            check_shared(str(file), columns, schema, by_case=by_case)
        # Lines of NDJSON may have different fields.
        if warned:
            for warning in column_warnings(columns, schema):
                click.echo(f"warning: {warning}", err=True)

    return judge


def _judge_line(file: Path, target: str, dead_letters: str, *, force: bool) -> Callable[[OddLine], None]:
    """Return the function that receives the first line that is not a JSON object.

    It refuses a file that begins a JSON array, and a file none of whose first lines is an object. It prints a warning
    about any other line.
    """
    from broker.files.input_files import STDIN, no_lines
    from cli.failure import CommandError

    def judge(line: OddLine) -> None:
        if line.begins_array and not force:
            raise no_lines(file)
        if line.is_all and not force and file != STDIN:
            remedy = f"line {line.number} is none: name its --format; --force publishes it nevertheless"
            raise CommandError("no JSON object in file", str(file), remedy)
        fate = f"end up in {dead_letters}" if target == "json" else f"are not sent into a stream of format {target}"
        click.echo(f"warning: line {line.number} is no JSON object: such lines {fate}", err=True)

    return judge


def _sent(
    kafka: KafkaClient, topic: str, batches: Iterator[RecordBatch], skipped: int, bar: tqdm[Any]
) -> tuple[int, bool]:
    """Send the batches. Return the number of acknowledged records, and whether Ctrl-C ended the sending."""
    from broker.errors import InputError, KafkaError
    from broker.kafka.batch_sender import BatchSender
    from cli.failure import CommandError

    interrupted = False

    def until_interrupted() -> Iterator[RecordBatch]:
        nonlocal interrupted
        try:
            yield from batches
        except KeyboardInterrupt:
            # Stop reading, and wait for the acknowledgement of the records that are already in flight.
            interrupted = True

    def say_silent() -> None:
        with suppress(OSError):
            click.echo(f"Kafka {kafka.bootstrap_servers} does not answer yet, still trying", err=True)

    start_s = time.monotonic()
    with BatchSender(kafka, topic, on_silence=say_silent) as sender:

        def going_on() -> str:
            first = skipped + sender.acknowledged_first
            return f"; '--skip {first}' goes on behind the first {first:,}" if first else ""

        try:
            for batch in until_interrupted():
                sender.send(*batch)
                rate = sender.acknowledged / (time.monotonic() - start_s)
                bar.set_postfix_str(f"{rate:,.0f} records/s", refresh=False)
            sender.flush()
        except KeyboardInterrupt:
            done = counted(sender.acknowledged, "record")
            click.echo(f"interrupted: {done} acknowledged, later ones may have arrived{going_on()}", err=True)
            raise click.exceptions.Exit(130) from None
        except KafkaError as error:
            raise KafkaError(error.subject, error.value, f"{error.remedy}{going_on()}") from error
        except (CommandError, InputError) as error:
            # The file has a fault. Wait for the acknowledgement of the records before the fault, which are in flight.
            sender.flush()
            raise CommandError(error.subject, error.value, f"{error.remedy}{going_on()}") from None
        return sender.acknowledged, interrupted
