"""The sections of the configuration, apart from the streams: their keys, defaults and bounds."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from asc.predicate.limits import MAX_NESTING_DEPTH, Limits
from asc.spatial.reading import VERTICES_MAX
from broker.config.options import SECRET_KEY, Options, masked
from broker.config.security import protocol_of, security_faults
from broker.config.spark_options import masked_spark, masked_urls, spark_option_remedy
from broker.errors import ConfigError
from broker.formats.schema_registry import SchemaRegistry

TOPIC_FORM = re.compile(r"[A-Za-z0-9._-]{1,249}")
"""The topic names that Kafka accepts, except for "." and ".."."""


def collision_name(topic: str) -> str:
    """Return a name that is equal for topics whose names collide in Kafka, which does not distinguish ``.`` from ``_``.

    >>> collision_name("asc.feed.flights") == collision_name("asc_feed_flights")
    True
    """
    return topic.replace(".", "_")


REQUEST_BYTES = 16 * 1024 * 1024
"""The largest record that is sent to Kafka if ``kafka.options`` does not set ``max.request.size``."""

_SIZES: Mapping[str, int] = MappingProxyType({"max.request.size": REQUEST_BYTES, "buffer.memory": 2 * REQUEST_BYTES})
"""The options that bound the size of a record, with the value of each if it is not set."""

_MEMORY_FORM = re.compile(r"[1-9][0-9]*[mg]", re.IGNORECASE)
_MASTER_FORM = re.compile(r"local(\[(\*|[1-9]\d*)(,\d+)?\])?|spark://[^\s/,]+:\d+(,[^\s/,]+:\d+)*|yarn|k8s://\S+")


class Section(BaseModel):
    """A table of the configuration, immutable after it is read. It refuses unknown keys. ``renamed``: keys of earlier
    versions with their present names. Such a key is refused, and the error gives its present name.
    """

    # populate_by_name: "schema" is written in the file, but the name belongs to pydantic.
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)
    renamed: ClassVar[Mapping[str, str]] = MappingProxyType({})


def _topic_name(value: str) -> str:
    if not TOPIC_FORM.fullmatch(value) or value in (".", ".."):
        raise ValueError("use 1 to 249 of the characters A-Z a-z 0-9 . _ -")
    return value


TopicName = Annotated[str, BeforeValidator(lambda value: _topic_name(value) if isinstance(value, str) else value)]


class KafkaConfig(Section):
    """The Kafka cluster that the daemon uses. Without ``bootstrap_servers``: an embedded node, in ``data_dir``."""

    bootstrap_servers: str | None = None
    data_dir: Path = Path("asc-data/kafka")
    registry_topic: TopicName = "asc.queries"
    allow_topic_creation: bool = Field(default=True, strict=True)
    partitions: int = Field(default=1, ge=1, strict=True)
    replication_factor: int = Field(default=-1, ge=-1, description="-1: the default of the Kafka broker", strict=True)
    timeout_s: float = Field(default=15, gt=0, allow_inf_nan=False, strict=True)
    options: Options = Field(default_factory=dict)

    @property
    def security_protocol(self) -> str:
        """Kafka's name for the security protocol: ``PLAINTEXT``, ``SASL_SSL`` and similar."""
        return protocol_of(self.options)

    @property
    def request_bytes(self) -> int:
        """The largest size of a record, with its headers, that is sent to Kafka. Raise ConfigError if the option is no
        number.
        """
        for fault in self.faults():
            raise fault
        return min(int(self.options.get(key, default)) for key, default in _SIZES.items())

    @property
    def buffer_bytes(self) -> int:
        """The largest size of the producer's buffer for unsent records."""
        return int(self.options.get("buffer.memory", _SIZES["buffer.memory"]))

    def faults(self) -> Iterator[ConfigError]:
        """Yield the faults of the options that the broker itself reads."""
        yield from security_faults(self.options)
        for key in _SIZES:
            if key in self.options and not re.fullmatch(r"[1-9][0-9]{3,9}", self.options[key]):
                yield ConfigError(
                    f"kafka.options.{key}", self.options[key][:50], "write a number of bytes, 1000 or more"
                )

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        for name, value in super().__repr_args__():
            yield name, masked(value) if name == "options" else value

    @field_validator("bootstrap_servers")
    @classmethod
    def _host_and_port(cls, value: str | None) -> str | None:
        for server in (value or "").split(",") if value is not None else ():
            if not re.fullmatch(r"\s*[^\s:]+:[0-9]{1,5}\s*|\s*\[[^\]]+\]:[0-9]{1,5}\s*", server):
                raise ValueError("write host:port, several separated by commas")
        return value


class SchemaRegistryConfig(Section):
    """The schema registry from which the formats Avro and Protobuf read the schemas of records. If ``url`` is not set,
    the formats use no registry.
    """

    url: str | None = None
    username: str | None = None
    password: str | None = None
    token: str | None = None
    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None
    timeout_s: float = Field(default=10, gt=0, le=300, allow_inf_nan=False, strict=True)

    @classmethod
    def paths(cls) -> list[str]:
        """Return the keys whose values are file names."""
        return [name for name in cls.model_fields if name.endswith("_file")]

    def registry(self) -> SchemaRegistry | None:
        """Return the configured schema registry. Return None if ``url`` is not set."""
        if self.url is None:
            return None
        return SchemaRegistry(
            tuple(url.strip() for url in self.url.split(",")),
            self.username,
            self.password,
            self.token,
            self.ca_file,
            self.cert_file,
            self.key_file,
            self.timeout_s,
        )

    def faults(self) -> Iterator[ConfigError]:
        """Yield the faults of keys that exclude or require each other, and of files that cannot be used."""
        if self.url is None:
            for name in type(self).model_fields:
                if name not in ("url", "timeout_s") and getattr(self, name) is not None:
                    yield ConfigError("schema_registry.url", None, f"is missing, and schema_registry.{name} is set")
            return
        if self.token is not None and self.username is not None:
            yield ConfigError("schema_registry.token", "********", "goes without username: set one of them")
        if (self.username is None) != (self.password is None):
            yield ConfigError("schema_registry.username", self.username or "", "goes with password: set both")
        if self.key_file is not None and self.cert_file is None:
            yield ConfigError("schema_registry.key_file", str(self.key_file), "goes with cert_file: set both")
        registry = self.registry()
        try:
            if registry is not None and any(getattr(self, name) is not None for name in self.paths()):
                registry.tls()
        except OSError as error:
            yield ConfigError("schema_registry", self.url, f"its TLS files cannot be used: {error}")

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        for name, value in super().__repr_args__():
            is_secret = value is not None and SECRET_KEY.search(str(name)) is not None
            yield name, "********" if is_secret else value

    @field_validator("url")
    @classmethod
    def _addresses(cls, value: str | None) -> str | None:
        for url in (value or "").split(",") if value is not None else ():
            if not re.fullmatch(r"\s*https?://[^\s/?#@]+(/[^\s?#]*)?\s*", url):
                raise ValueError("write http(s)://host:port/path without a name and a password, several with commas")
        return value


class ApiConfig(Section):
    """The address of the HTTP API. Port 0 means any free port."""

    renamed: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"token_file": "root_token_file", "metrics_queries": "metrics_top_queries"}
    )

    host: str = "127.0.0.1"
    port: int = Field(default=8750, ge=0, le=65535, strict=True)
    root_token_file: Path | None = None
    tokens_file: Path | None = None
    tls_cert_file: Path | None = None
    tls_key_file: Path | None = None
    audit_file: Path | None = None
    max_body_bytes: int = Field(default=64 * 1024 * 1024, ge=1024, strict=True)
    max_load_bytes: int = Field(default=256 * 1024 * 1024, ge=1024, strict=True)
    requests_per_s: float = Field(default=500, gt=0, allow_inf_nan=False, strict=True)
    receive_timeout_s: float = Field(default=20, gt=0, le=3600, allow_inf_nan=False, strict=True)
    max_connections: int = Field(default=500, ge=1, strict=True)
    max_connections_per_host: int = Field(default=100, ge=1, strict=True)
    metrics_top_queries: int = Field(default=100, ge=0, le=10_000, strict=True)

    @classmethod
    def paths(cls) -> list[str]:
        """Return the keys whose values are file names."""
        return [name for name in cls.model_fields if name.endswith("_file")]

    @property
    def is_loopback(self) -> bool:
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host.strip("[]")).is_loopback
        except ValueError:
            return False


class LogConfig(Section):
    """The daemon's log, on standard error. ``batches``: a line for each batch with records."""

    format: Literal["text", "json"] = "text"
    batches: bool = Field(default=False, strict=True)


class TracingConfig(Section):
    """The OTLP/HTTP endpoint to which batches are sent as traces: a whole address, such as ``http://collector:4318/v1/traces``."""

    endpoint: str | None = None

    @field_validator("endpoint")
    @classmethod
    def _address(cls, value: str | None) -> str | None:
        if value is not None and not re.fullmatch(r"https?://[^\s/@?#]+(/[^\s@?#]*)?", value):
            raise ValueError(
                "write http://host:4318/v1/traces; what is secret goes into the variable OTEL_EXPORTER_OTLP_HEADERS"
            )
        return value


class SparkConfig(Section):
    """The Spark driver, the cluster it runs on, and the pace of its streaming jobs."""

    renamed: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"packed": "python_archive", "expression_limit_s": "expression_timeout_s"}
    )

    master: str = "local[*]"
    python_archive: str | None = None
    driver_memory: str = "2g"
    checkpoint_dir: Path = Path("asc-data/checkpoint")
    time_zone: str = "UTC"
    max_records_per_batch: int = Field(default=200_000, ge=1, strict=True)
    trigger_interval_ms: int = Field(default=0, ge=0, strict=True)
    warm_up_s: float = Field(default=4, ge=0, le=300, allow_inf_nan=False, strict=True)
    expression_timeout_s: float = Field(default=120, ge=1, le=86_400, allow_inf_nan=False, strict=True)
    options: Options = Field(default_factory=dict)

    def faults(self) -> Iterator[ConfigError]:
        """Yield the faults of an invalid master, of packages that are no file, and of options that users may not
        set.
        """
        if not _MASTER_FORM.fullmatch(self.master):
            yield ConfigError("spark.master", self.master, "write local[N], spark://host:port, yarn or k8s://...")
        is_sent = (
            self.python_archive is not None and "://" not in self.python_archive and not self.master.startswith("local")
        )
        if is_sent and not Path(str(self.python_archive)).is_file():
            yield ConfigError(
                "spark.python_archive", self.python_archive, "is no file: write it with 'asc runtime pack'"
            )
        for key, value in self.options.items():
            remedy = spark_option_remedy(key)
            if remedy is not None:
                yield ConfigError(f"spark.options.{key}", masked_spark({key: value})[key][:50], remedy)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        for name, value in super().__repr_args__():
            if name == "python_archive" and value is not None:
                yield name, masked_urls(value)
            else:
                yield name, masked_spark(value) if name == "options" else value

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


class LimitsConfig(Section):
    """Bounds on queries, streams and layers.

    Queries: the costs of a predicate (``asc.predicate.Limits``), and the expressions that Spark computes for a stream.
    Events and pairs of a stream: the number of tracks, of queries, and of objects in the state. DBSCAN: the number of
    queries, and the points of a window. Cubes: the number of queries, the bytes of the states of one batch, and the
    cells of a pane. All cubes together: their bytes and their panes; the seconds of an answer. A cube: its shards.
    Layers: the vertices of a shape, and the rows of a layer. Joins: the shapes of all joins of a stream together.
    """

    length_chars: int = Field(default=Limits.length_chars, ge=1, strict=True)
    nesting_depth: int = Field(default=Limits.nesting_depth, ge=1, le=MAX_NESTING_DEPTH, strict=True)
    conjuncts: int = Field(default=Limits.conjuncts, ge=1, strict=True)
    spark_nodes: int = Field(default=Limits.spark_nodes, ge=1, strict=True)
    join_nodes: int = Field(default=Limits.join_nodes, ge=1, strict=True)
    spark_attributes: int = Field(default=200, ge=0, strict=True)
    stream_spark_nodes: int = Field(default=20_000, ge=0, strict=True)
    stream_pattern_steps: int = Field(default=5_000, ge=0, strict=True)
    stream_tracks: int = Field(default=8, ge=0, le=64, strict=True)
    stream_event_queries: int = Field(default=10_000, ge=0, strict=True)
    stream_near_queries: int = Field(default=16, ge=0, le=1_000, strict=True)
    stream_objects: int = Field(default=1_000_000, ge=1, strict=True)
    stream_dbscan_queries: int = Field(default=1_000, ge=0, le=10_000, strict=True)
    stream_dbscan_points: int = Field(default=200_000, ge=1, le=1_000_000, strict=True)
    stream_cubes: int = Field(default=64, ge=0, le=1_000, strict=True)
    cube_partial_bytes: int = Field(default=64 << 20, ge=1 << 20, strict=True)
    cube_cells: int = Field(default=1_000_000, ge=1, strict=True)
    cube_bytes: int = Field(default=1 << 30, ge=1 << 20, strict=True)
    cube_panes: int = Field(default=250_000, ge=1, strict=True)
    cube_query_s: int = Field(default=10, ge=1, strict=True)
    cube_shards: int = Field(default=64, ge=1, le=64, strict=True)
    shape_vertices: int = Field(default=VERTICES_MAX, ge=1, le=VERTICES_MAX, strict=True)
    layer_shapes: int = Field(default=2_000_000, ge=1, strict=True)
    stream_join_shapes: int = Field(default=2_000_000, ge=0, strict=True)

    def of_predicates(self) -> Limits:
        """Return the limits of one predicate."""
        return Limits(self.length_chars, self.nesting_depth, self.conjuncts, self.spark_nodes, self.join_nodes)


def _list(value: Any) -> Any:
    if isinstance(value, str):
        raise ValueError(f'write a list, as ["{value}"]')
    return value


def _each_once(value: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(value)) < len(value):
        raise ValueError("name each trigger once")
    return value


Triggers = Annotated[tuple[Literal["dropping_ratio", "cost"], ...], BeforeValidator(_list), AfterValidator(_each_once)]


class MonitorConfig(Section):
    """The monitor of each stream, which adapts the sequences of blocks to the data (read again on SIGHUP).
    ``lambda_tuples``: the number of tuples between two checks of the dropping ratio and the cost. ``mu``: the relative
    change of one of these two from which on the monitor searches for another sequence; with 0, it does so at every
    check. ``mode``: with ``sampled``, the monitor finds a sequence on one sample; with ``periodic``, one further
    construct of the sequence after every ``tau_tuples``, as in the paper. ``max_core_share``: the share of one core
    that the monitor may use on average.
    """

    enabled: bool = Field(default=True, strict=True)
    mode: Literal["sampled", "periodic"] = "sampled"
    triggers: Triggers = ("dropping_ratio", "cost")
    lambda_tuples: int = Field(default=1_000_000, ge=1, strict=True)
    tau_tuples: int = Field(default=100_000, ge=1, strict=True)
    mu: float = Field(default=0.1, ge=0, allow_inf_nan=False, strict=True)
    sample_tuples: int = Field(default=10_000, ge=1, le=100_000, strict=True)
    max_core_share: float = Field(default=0.02, gt=0, le=1, strict=True)
