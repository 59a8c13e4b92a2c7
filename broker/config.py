"""The configuration: one TOML file, checked as a whole before anything starts."""

from __future__ import annotations

import difflib
import importlib
import ipaddress
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator

from asc.errors import AscError
from broker.decode_options import wrong_options
from broker.errors import BrokerError

if TYPE_CHECKING:
    import pyarrow as pa

    from asc.schema import Schema

TOPIC_FORM = re.compile(r"[A-Za-z0-9._-]{1,249}")
"""What Kafka takes as the name of a topic ("." and ".." apart)."""

RESERVED_ATTRIBUTES = ("_key", "_topic", "_partition", "_offset", "_timestamp", "_headers")
"""The record's own attributes, beside the fields of the schema."""

_TAKEN_PREFIX = "__asc_"
_TAKEN_NAME = "deliveries"
# Columns that the job puts beside the fields.

_RECORD_DDL = (
    "_key STRING, _topic STRING, _partition INT, _offset BIGINT, _timestamp TIMESTAMP, _headers MAP<STRING, STRING>"
)
REQUEST_BYTES = 16 * 1024 * 1024
"""The largest record that is sent to Kafka, where kafka.options has no max.request.size."""

_SECRET_OPTION = re.compile(r"password|secret|token|jaas|credential|\.key$", re.IGNORECASE)
_MEMORY_FORM = re.compile(r"[1-9][0-9]*[mg]", re.IGNORECASE)


class ConfigError(BrokerError):
    """A configuration that cannot be used: the first thing wrong with it, by the path of its key."""


def _option_text(value: Any) -> Any:
    # Spark and Kafka spell booleans and numbers as text; TOML writers do not.
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, (int, float)) else value


Options = dict[str, Annotated[str, BeforeValidator(_option_text)]]
"""Pass-through settings: key to text."""


class _Section(BaseModel):
    # populate_by_name: "schema" is written in the file, but the name belongs to pydantic.
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


def _masked(options: Mapping[str, str]) -> dict[str, str]:
    return {key: "********" if _SECRET_OPTION.search(key) else value for key, value in options.items()}


def _topic_name(value: str) -> str:
    if not TOPIC_FORM.fullmatch(value) or value in (".", ".."):
        raise ValueError("use 1 to 249 of the characters A-Z a-z 0-9 . _ -")
    return value


TopicName = Annotated[str, BeforeValidator(lambda value: _topic_name(value) if isinstance(value, str) else value)]


class KafkaConfig(_Section):
    """Which Kafka to talk to. Without ``bootstrap_servers``: a single node of the daemon's own, in ``data_dir``."""

    bootstrap_servers: str | None = None
    data_dir: Path = Path("asc-data/kafka")
    registry_topic: TopicName = "asc.queries"
    allow_topic_creation: bool = True
    partitions: int = Field(default=1, ge=1)
    replication_factor: int = Field(default=-1, ge=-1, description="-1: the default of the Kafka broker")
    timeout_s: float = Field(default=15, gt=0)
    options: Options = Field(default_factory=dict)

    @property
    def request_bytes(self) -> int:
        """The largest record, headers and all, that is sent to Kafka; ConfigError where the options have no number."""
        bounds = {"max.request.size": REQUEST_BYTES, "buffer.memory": 2 * REQUEST_BYTES}
        found = []
        for key, default in bounds.items():
            text = self.options.get(key, str(default))
            if not re.fullmatch(r"[1-9][0-9]{3,9}", text):
                raise ConfigError(f"kafka.options.{key}", text[:50], "write a number of bytes, 1000 or more")
            found.append(int(text))
        return min(found)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        for name, value in super().__repr_args__():
            yield name, _masked(value) if name == "options" else value

    @field_validator("bootstrap_servers")
    @classmethod
    def _host_and_port(cls, value: str | None) -> str | None:
        for server in (value or "").split(",") if value is not None else ():
            if not re.fullmatch(r"\s*[^\s:]+:[0-9]{1,5}\s*|\s*\[[^\]]+\]:[0-9]{1,5}\s*", server):
                raise ValueError("write host:port, several separated by commas")
        return value


class ApiConfig(_Section):
    """Where the HTTP API listens. Port 0 takes a free one."""

    host: str = "127.0.0.1"
    port: int = Field(default=8750, ge=0, le=65535)
    token_file: Path | None = None
    max_body_bytes: int = Field(default=64 * 1024 * 1024, ge=1024)

    @property
    def is_loopback(self) -> bool:
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host.strip("[]")).is_loopback
        except ValueError:
            return False


class SparkConfig(_Section):
    """The Spark driver and the pace of its streaming jobs."""

    master: str = "local[*]"
    driver_memory: str = "2g"
    checkpoint_dir: Path = Path("asc-data/checkpoint")
    time_zone: str = "UTC"
    max_records_per_batch: int = Field(default=200_000, ge=1)
    trigger_interval_ms: int = Field(default=0, ge=0)

    @field_validator("driver_memory")
    @classmethod
    def _memory(cls, value: str) -> str:
        if not _MEMORY_FORM.fullmatch(value):
            raise ValueError("write a whole number and m or g, as 512m or 4g")
        return value

    @field_validator("time_zone")
    @classmethod
    def _zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except Exception as error:
            raise ValueError("use a name of the time zone database, as UTC or Europe/Oslo") from error
        return value


class LimitsConfig(_Section):
    """Bounds on what a query may ask (``asc.predicate.Limits``) and on expressions that Spark computes for a stream."""

    length_chars: int = Field(default=20_000, ge=1)
    nesting_depth: int = Field(default=60, ge=1, le=120)
    conjuncts: int = Field(default=64, ge=1)
    spark_attributes: int = Field(default=200, ge=0)


class StreamConfig(_Section):
    """A source topic with a record format and a schema (Spark DDL here, or a file of DDL or of Spark's JSON form)."""

    topic: TopicName
    format: Literal["json", "csv"]
    schema_text: str | None = Field(default=None, alias="schema")
    schema_file: Path | None = None
    starting_offsets: Literal["earliest", "latest"] = "latest"
    options: Options = Field(default_factory=dict)

    def fields(self) -> Schema:
        """The schema of the records' fields, each of which a record may lack; SchemaError, ConfigError."""
        import pyarrow as pa

        schema = self._declared_fields()
        return type(schema)(pa.schema([_nullable(field) for field in schema.arrow]))

    def _declared_fields(self) -> Schema:
        from asc.schema import Schema

        if (self.schema_text is None) == (self.schema_file is None):
            raise ConfigError(
                "stream of topic", self.topic, "give it exactly one of schema (Spark DDL) and schema_file"
            )
        if self.schema_file is None:
            return Schema.from_ddl(self.schema_text or "")
        try:
            text = self.schema_file.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError("schema file", str(self.schema_file), f"cannot be read: {_reason(error)}") from error
        return Schema.from_json(text) if text.lstrip().startswith("{") else Schema.from_ddl(text)

    def attributes(self) -> Schema:
        """The fields and the record's own attributes: what a predicate may name."""
        from asc.schema import Schema

        return Schema.from_ddl(f"{self.fields().ddl()}, {_RECORD_DDL}")


class Config(_Section):
    """The whole configuration. Frozen; ``load_config`` makes one from a file."""

    kafka: KafkaConfig = KafkaConfig()
    api: ApiConfig = ApiConfig()
    spark: SparkConfig = SparkConfig()
    limits: LimitsConfig = LimitsConfig()
    streams: dict[str, StreamConfig] = Field(default_factory=dict)

    def dead_letter_topic(self, stream: str) -> str:
        return f"{stream}.dead-letter"

    def effective(self) -> dict[str, Any]:
        """Every setting as it holds, defaults included, with secrets masked; plain values, ready for JSON.

        >>> config = Config(kafka=KafkaConfig(options={"ssl.key.password": "x", "security.protocol": "SSL"}))
        >>> config.effective()["kafka"]["options"]
        {'ssl.key.password': '********', 'security.protocol': 'SSL'}
        """
        plain = self.model_dump(mode="json", by_alias=True)
        plain["kafka"]["options"] = _masked(plain["kafka"]["options"])
        return plain

    def token(self) -> str | None:
        """The bearer token that the API asks for: from the token file, else from ASC_TOKEN, else none."""
        if self.api.token_file is None:
            return os.environ.get("ASC_TOKEN") or None
        try:
            token = self.api.token_file.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError("token file", str(self.api.token_file), f"cannot be read: {_reason(error)}") from error
        if not token:
            raise ConfigError("token file", str(self.api.token_file), "is empty: write the bearer token into it")
        return token

    def check(self) -> None:
        """What one section cannot know of another: streams against topics, the address against the token."""
        if not self.streams:
            raise ConfigError(
                "configuration without a stream", "streams", "add a table [streams.NAME] with topic, format, schema"
            )
        _ = self.kafka.request_bytes
        dead_letters = {self.dead_letter_topic(name) for name in self.streams}
        if self.kafka.registry_topic in dead_letters:
            raise ConfigError(
                "kafka.registry_topic", self.kafka.registry_topic, "takes undecodable records: choose another"
            )
        for name, stream in self.streams.items():
            where = f"streams.{name}"
            _check_stream_name(name)
            if stream.topic == self.kafka.registry_topic or stream.topic.startswith("__"):
                raise ConfigError(
                    f"{where}.topic", stream.topic, "is the registry or an internal topic: name the source topic"
                )
            if stream.topic in dead_letters:
                raise ConfigError(f"{where}.topic", stream.topic, "takes undecodable records: name the source topic")
            _check_options(where, stream)
            _check_schema(where, stream)
        if not self.api.is_loopback and self.token() is None:
            raise ConfigError(
                "api.host", self.api.host, "reachable from outside: set api.token_file (or ASC_TOKEN), or use 127.0.0.1"
            )


def load_config(path: Path | None, *, embedded: bool = False) -> Config:
    """The configuration in a TOML file, or the defaults where there is none; ``embedded``: the daemon's own Kafka.

    Relative paths in the file are relative to its folder. Raises ConfigError (SchemaError for a schema's own trouble).
    """
    if path is None:
        config = Config()
    else:
        tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
        try:
            document = tomllib.loads(path.read_text("utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise ConfigError("configuration file", str(path), f"is not TOML: {error}") from error
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError("configuration file", str(path), f"cannot be read: {_reason(error)}") from error
        config = _resolved(parse_config(document), path.resolve().parent)
        config.check()
    if embedded:
        # The options are those of another Kafka: how to be admitted there would keep this one out of reach.
        own = config.kafka.model_copy(update={"bootstrap_servers": None, "options": {}})
        config = config.model_copy(update={"kafka": own})
    return config


def parse_config(document: dict[str, Any]) -> Config:
    """A parsed document as a configuration; the first thing wrong with it is a ConfigError."""
    try:
        return Config.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        location = tuple(str(part) for part in first["loc"])
        key = ".".join(location)
        if location[:2] == ("kafka", "options"):
            # Whatever stands there may be a secret; so may the parts of a dotted name that was not quoted.
            remedy = 'is not text: write "its.name" = "value", the name in quotes when it has dots'
            raise ConfigError("configuration key", ".".join(location[:3]), remedy) from None
        if first["type"] == "extra_forbidden":
            raise ConfigError("unknown configuration key", key, _nearest_key(location)) from None
        if first["type"] == "missing":
            raise ConfigError("missing configuration key", key, "add it") from None
        message = str(first["msg"]).removeprefix("Value error, ")
        message = re.sub(r" or instance of \w+$", "", message[:1].lower() + message[1:]).replace("dictionary", "table")
        value = first["input"] if not _SECRET_OPTION.search(key) else "********"
        raise ConfigError(f"configuration key {key}", value, message) from None


def _nearest_key(location: tuple[str, ...]) -> str:
    model: type[BaseModel] = Config
    for part in location[:-1]:
        if part in model.model_fields:
            annotation = model.model_fields[part].annotation
            if isinstance(annotation, type) and issubclass(annotation, BaseModel):
                model = annotation
            elif part == "streams":
                model = StreamConfig
    keys = [field.alias or name for name, field in model.model_fields.items()]
    near = difflib.get_close_matches(location[-1], keys, n=1, cutoff=0.5)
    return f"did you mean '{near[0]}'?" if near else f"known here: {', '.join(keys)}"


def _check_stream_name(name: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", name):
        raise ConfigError("stream name", name, "use 1 to 100 of A-Z a-z 0-9 . _ -, a letter or digit first")


def _check_options(where: str, stream: StreamConfig) -> None:
    for option, value, remedy in wrong_options(stream.format, stream.options):
        raise ConfigError(f"{where}.options.{option}", value, remedy)


def _check_schema(where: str, stream: StreamConfig) -> None:
    import pyarrow as pa

    try:
        fields = stream.fields()
    except ConfigError as error:
        raise ConfigError(f"{where}: {error.subject}", error.value, error.remedy) from error
    except AscError as error:
        raise ConfigError(f"{where}.schema: {error.subject}", error.value, error.remedy) from error
    for field in fields.arrow:
        if field.name.lower() in RESERVED_ATTRIBUTES:
            raise ConfigError(
                f"{where}.schema: field", field.name, "the name is the record's own attribute: choose another"
            )
        if field.name.lower().startswith(_TAKEN_PREFIX) or field.name.lower() == _TAKEN_NAME:
            raise ConfigError(f"{where}.schema: field", field.name, "the broker uses such names itself: choose another")
        if stream.format == "csv" and pa.types.is_nested(field.type):
            raise ConfigError(
                f"{where}.schema: field", field.name, "CSV holds no nested values: use scalar types or format json"
            )


def _resolved(config: Config, folder: Path) -> Config:
    def under(path: Path | None) -> Path | None:
        return None if path is None else folder / path.expanduser()

    streams = {
        name: stream.model_copy(update={"schema_file": under(stream.schema_file)})
        for name, stream in config.streams.items()
    }
    return config.model_copy(
        update={
            "kafka": config.kafka.model_copy(update={"data_dir": under(config.kafka.data_dir)}),
            "api": config.api.model_copy(update={"token_file": under(config.api.token_file)}),
            "spark": config.spark.model_copy(update={"checkpoint_dir": under(config.spark.checkpoint_dir)}),
            "streams": streams,
        }
    )


def _nullable(field: pa.Field) -> pa.Field:
    import pyarrow as pa

    if not pa.types.is_struct(field.type):
        return field.with_nullable(True)
    inner = [_nullable(field.type.field(i)) for i in range(field.type.num_fields)]
    return pa.field(field.name, pa.struct(inner))


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else "it is not UTF-8 text"
