"""The decoding of rows of files to attributes. The command line defines the decoding either by a schema and options, or
by a stream of a configuration file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from broker.files.decoding import ZONE, Decoding
from cli.failure import CommandError

if TYPE_CHECKING:
    from broker.config.streams import StreamConfig
    from broker.formats.record_format import RecordFormat


def decoding_of(
    file_format: str,
    *,
    schema_file: Path | None,
    config_file: Path | None,
    stream: str | None,
    options: Mapping[str, str],
    time_zone: str | None,
) -> Decoding:
    """Return the decoding of files in one format, from a schema file or from a stream of a configuration file.
    ``options``: decoding options, which replace those of the stream. ``time_zone``: None means the one of the
    configuration, or UTC.
    """
    from broker.formats.registry import RECORD_FORMATS

    if (schema_file is None) == (config_file is None):
        raise click.UsageError("name the schema with --schema, or a stream with --config and --stream")
    record_format = RECORD_FORMATS["json" if file_format == "ndjson" else "csv"]
    if schema_file is not None:
        from broker.files.schema_file import read_schema

        if stream is not None:
            raise click.UsageError("--stream needs --config, the file that has the stream")
        decoding = Decoding(read_schema(schema_file), options, time_zone or ZONE)
    else:
        from broker.config.config import load_config

        config = load_config(config_file)
        own = _stream(config.streams, stream, config_file)
        carried = {**_carried(own, record_format), **options}
        decoding = Decoding(own.fields().with_crs(own.crs), carried, time_zone or config.spark.time_zone)
    for name, value, remedy in record_format.wrong_options(decoding.options):
        raise CommandError(f"option {name}", value, remedy)
    return decoding


def with_layers(decoding: Decoding, layers: Sequence[str], crs: str | None) -> Decoding:
    """Return a decoding with added layers, and with the coordinate reference system ``crs`` unless it is None. Each
    layer is ``NAME=FILE`` or ``NAME:ID=FILE``, where ID is the property with the ids of shapes. Raise AscError if a
    layer has another form or cannot be read.
    """
    from asc.layer_file import read_layer

    schema = decoding.schema if crs is None else decoding.schema.with_crs(crs)
    added = {}
    for text in layers:
        head, equals, file = text.partition("=")
        name, _, id_property = head.partition(":")
        if not name or not equals or not file:
            raise CommandError("--layer", text, "write NAME=FILE, or NAME:PROPERTY=FILE")
        try:
            added[name] = read_layer(file, id=id_property or None, crs=schema.crs)
        except OSError as error:
            raise CommandError("file of shapes", file, f"cannot be read: {error.strerror or error}") from error
    return replace(decoding, schema=schema.with_layers(added))


def _stream(streams: Mapping[str, StreamConfig], name: str | None, config_file: Path | None) -> StreamConfig:
    if name is None and len(streams) == 1:
        return next(iter(streams.values()))
    if name is None or name not in streams:
        subject = f"unknown stream in {config_file}, name" if name else f"no stream named of {config_file}, --stream"
        raise CommandError(subject, name, f"it has: {', '.join(sorted(streams))}")
    return streams[name]


def _carried(stream: StreamConfig, record_format: RecordFormat) -> dict[str, str]:
    if stream.format == record_format.name:
        return dict(stream.options)
    return {name: text for name, text in stream.options.items() if name not in stream.record_format.own_options}
