"""The options of commands that call the daemon. From their values, a client of the daemon, or of the daemon's Kafka, is
created.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from broker.files.bounded_file import read_text
from cli.failure import CommandError
from cli.file_options import EXISTING_FILE, config_option

if TYPE_CHECKING:
    from broker.answers.stream import Stream
    from broker.client.client import Client
    from broker.kafka.client import KafkaClient

DEFAULT_SERVER = "http://127.0.0.1:8750"

KAFKA_ANSWERS_WITHIN_S = 10.0
"""The longest wait in seconds for Kafka's first answer."""

Json = Mapping[str, Any]
"""A JSON object: an answer of the daemon, or a part of an answer. Commands print such objects."""


def kafka_of(client: Client, config_file: Path | None) -> KafkaClient:
    """Return a client of the daemon's Kafka. ``config_file``: the file of ``--config``, which configures TLS and SASL;
    None if the option is omitted.
    """
    from broker.config.config import load_kafka_options
    from broker.kafka.client import KafkaClient, quiet_client_log

    quiet_client_log()
    options = load_kafka_options(config_file)
    asked = client.streams()["kafka"]
    protocol = asked.get("security_protocol", "PLAINTEXT")
    if protocol != "PLAINTEXT" and config_file is None and not options:
        remedy = f"is spoken to by {protocol}: name the file that has its [kafka.options] with --config"
        raise CommandError("Kafka", asked["bootstrap_servers"], remedy)
    return KafkaClient(asked["bootstrap_servers"], options, KAFKA_ANSWERS_WITHIN_S)


def stream_of(client: Client, name: str | None) -> Stream:
    """Return the stream with this name, or the only stream if ``name`` is None. Raise CommandError if there is no such
    stream.
    """
    streams = {stream["name"]: stream for stream in client.streams()["streams"]}
    if name is None and len(streams) == 1:
        name = next(iter(streams))
    if name is None or name not in streams:
        known = ", ".join(streams) or "none is configured"
        if name is None:
            raise CommandError("stream", None, f"name one with --stream; the daemon's streams: {known}")
        raise CommandError("unknown stream", name, f"the daemon's streams: {known}")
    return streams[name]


@contextmanager
def connected(
    server: str, token_file: Path | None, ca_file: Path | None, timeout_s: float | None = None
) -> Iterator[Client]:
    """Yield a client of the daemon at the URL ``server``, and close the client at the end. ``timeout_s``: the longest
    wait for an answer; None means the default.
    """
    from broker.client.client import TIMEOUT_S, Client

    token = read_token(token_file)
    with Client(server, token=token, ca_file=ca_file, timeout_s=timeout_s or TIMEOUT_S) as client:
        yield client


def server_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that connect to the daemon. The command receives a `Client` as ``client``."""

    @functools.wraps(command)
    def with_client(server: str, token_file: Path | None, ca_file: Path | None, **arguments: Any) -> Any:
        with connected(server, token_file, ca_file) as client, _stream_by_its_option():
            return command(client=client, **arguments)

    return address_options(with_client)


@contextmanager
def _stream_by_its_option() -> Iterator[None]:
    """Replace the daemon's error about a missing stream by an error that names the option ``--stream``. If the command
    has no such option, leave the error unchanged.
    """
    from broker.client.errors import RefusedError

    try:
        yield
    except RefusedError as error:
        if error.streams is None or "stream" not in click.get_current_context().params:
            raise
        known = ", ".join(error.streams)
        raise CommandError("stream", None, f"name one with --stream; the daemon's streams: {known}") from error


def kafka_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--config`` and the options of :func:`server_options` to a command that also uses Kafka. The command
    receives the path of ``--config`` as ``config_file``.
    """
    help_text = "The daemon's configuration file, or one with its [kafka.options] alone: Kafka's TLS and SASL."
    return config_option(help_text)(server_options(command))


def address_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that connect to a daemon, to a command that can also run without a daemon. The command receives
    them as ``server``, ``token_file`` and ``ca_file``.
    """
    authority = click.option(
        "--ca-file",
        envvar="ASC_CA_FILE",
        type=EXISTING_FILE,
        help="PEM file of the certificates to trust over https, instead of the system's (ASC_CA_FILE).",
    )
    token = click.option(
        "--token-file",
        type=EXISTING_FILE,
        help="File with the bearer token; without it the variable ASC_TOKEN is used.",
    )
    address = click.option(
        "--server", envvar="ASC_SERVER", default=DEFAULT_SERVER, show_default=True, help="The daemon (ASC_SERVER)."
    )
    return address(token(authority(command)))


def read_token(token_file: Path | None) -> str | None:
    """Return the bearer token in a file. If ``token_file`` is None, return the value of the variable ASC_TOKEN, or None
    if it is unset or empty. Raise CommandError if the file is empty.
    """
    if token_file is None:
        return os.environ.get("ASC_TOKEN") or None
    token = read_text(token_file).strip()
    if not token:
        raise CommandError("token file", str(token_file), "is empty: write the daemon's bearer token into it")
    return token
