"""The table of record formats, by their names in the configuration."""

from __future__ import annotations

from collections.abc import Mapping

from broker.formats.avro import Avro
from broker.formats.csv import Csv
from broker.formats.format import Format
from broker.formats.json import Json
from broker.formats.protobuf import Protobuf
from broker.formats.record_format import RecordFormat

RECORD_FORMATS: Mapping[str, RecordFormat] = {record_format.name: record_format for record_format in (Json(), Csv())}
"""The formats that Spark parses and in which rows can be written, by their names in the configuration."""

FORMATS: Mapping[str, Format] = {**RECORD_FORMATS, "avro": Avro(), "protobuf": Protobuf()}
"""The formats that a stream may have, by their names in the configuration."""
