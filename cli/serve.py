"""``asc serve``: run the daemon."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import click

from cli.command import Command, examples
from cli.file_options import config_option

_LEAST = '[streams.flights], topic = "flights", format = "json", schema = "delay INT"'


@click.command(
    cls=Command,
    epilog=examples(
        "asc serve --config asc.toml",
        "asc serve --config asc.toml --embedded",
        "asc serve --config asc.toml --set-aside late --set-aside hauls",
        "asc serve --config asc.toml --standby",
        "asc serve --config asc.toml --master spark://10.0.0.5:7077",
        "The least that asc.toml holds is a stream:",
        "[streams.flights]",
        'topic = "flights"',
        'format = "json"',
        'schema = "delay INT, dest STRING"',
    ),
)
@config_option("The configuration, a TOML file with at least one stream.")
@click.option("--embedded", is_flag=True, help="Start a Kafka broker of its own, also where one is configured.")
@click.option(
    "--set-aside",
    multiple=True,
    metavar="ID",
    help="Start without this query: it is kept, and not served until it is registered anew; repeatable.",
)
@click.option(
    "--standby",
    is_flag=True,
    help="Where another daemon serves the same registry, wait until it is gone, then go on in its place.",
)
@click.option(
    "--master",
    metavar="URL",
    help="Spark's master in place of the configuration's: local[4], spark://host:7077, yarn, k8s://...",
)
def serve(
    config_file: Path | None, embedded: bool, set_aside: tuple[str, ...], standby: bool, master: str | None
) -> None:
    """Run the daemon: HTTP API and streaming jobs.

    If the configuration names no Kafka, it starts an embedded one.
    SIGTERM or Ctrl-C ends the running batch, commits and leaves.
    Ends with 3 once another daemon serves in its place.
    SIGHUP reads the file again and takes the section [monitor] from it, and tokens file and certificate anew.
    """
    if config_file is None and not any(name.startswith("ASC__STREAMS__") for name in os.environ):
        raise click.UsageError(f"give --config FILE, a TOML file with at least {_LEAST}")
    from broker.config.config import load_config
    from broker.daemon.process import serve as serve_daemon

    read = partial(load_config, config_file, embedded=embedded, master=master)
    serve_daemon(read(), read, config_file=config_file, set_aside=set_aside, is_standby=standby)
