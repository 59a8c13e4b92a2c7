"""The configuration: one TOML file, which is checked as a whole before any component starts."""

from __future__ import annotations

import difflib
import os
import re
import ssl
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field, ValidationError

from broker.access.scope import Scope
from broker.access.secret import check_secret, digest
from broker.access.tokens_file import parse_tokens
from broker.config.certificate import server_context
from broker.config.environment import KeyPath, Overlay, has_variables, of_variables, overlaid
from broker.config.layer_config import LayerConfig, layer_faults
from broker.config.options import SECRET_KEY, masked
from broker.config.sections import (
    ApiConfig,
    KafkaConfig,
    LimitsConfig,
    LogConfig,
    MonitorConfig,
    SchemaRegistryConfig,
    Section,
    SparkConfig,
    TracingConfig,
    collision_name,
)
from broker.config.spark_options import masked_spark, masked_urls
from broker.config.streams import StreamConfig, check_stream_name
from broker.config.text_file import read_text
from broker.errors import ConfigError, ConfigFaultsError
from broker.toml_text import parse_toml
from broker.value_remedy import value_remedy

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


class Config(Section):
    """The whole configuration. Immutable; :func:`load_config` reads it from a file."""

    kafka: KafkaConfig = KafkaConfig()
    api: ApiConfig = ApiConfig()
    spark: SparkConfig = SparkConfig()
    limits: LimitsConfig = LimitsConfig()
    monitor: MonitorConfig = MonitorConfig()
    schema_registry: SchemaRegistryConfig = SchemaRegistryConfig()
    log: LogConfig = LogConfig()
    tracing: TracingConfig = TracingConfig()
    streams: dict[str, StreamConfig] = Field(default_factory=dict)
    layers: dict[str, LayerConfig] = Field(default_factory=dict)

    def dead_letter_topic(self, stream: str) -> str:
        return f"{stream}.dead-letter"

    def feed_topic(self, stream: str) -> str:
        """Return the feed topic of a stream: the job of the stream writes to it, and operators with a state read it."""
        return f"asc.feed.{stream}"

    @staticmethod
    def lookup_topic(name: str) -> str:
        """Return the topic of a look-up of cubes. Without a name, return the prefix of all these topics."""
        return f"asc.lookup.{name}"

    @cached_property
    def internal_topics(self) -> dict[str, str]:
        """Return the topics that only the broker uses, by :func:`collision_name`, each with its purpose."""
        found = {self.kafka.registry_topic: "is the registry of queries"}
        found.update((layer.topic, f"holds the shapes of layer '{name}'") for name, layer in self.layers.items())
        for name in self.streams:
            found[self.dead_letter_topic(name)] = "takes undecodable records"
            found[self.feed_topic(name)] = "is the feed of a stream, which the broker reads"
        return {collision_name(topic): use for topic, use in found.items()}

    @property
    def source_topics(self) -> frozenset[str]:
        """The topics that streams read."""
        return frozenset(stream.topic for stream in self.streams.values())

    def effective(self) -> dict[str, Any]:
        """Return every setting with its effective value, defaults included, as plain values for JSON. Secrets are
        masked.
        """
        plain = self.model_dump(mode="json", by_alias=True)
        plain["kafka"]["options"] = masked(plain["kafka"]["options"])
        plain["spark"]["options"] = masked_spark(plain["spark"]["options"])
        registry = plain["schema_registry"]
        registry |= {key: "********" for key in ("password", "token") if registry[key] is not None}
        spark = plain["spark"]
        spark["python_archive"] = spark["python_archive"] and masked_urls(spark["python_archive"])
        return plain

    def token(self) -> str | None:
        """Return the bearer token that permits everything, from the root token file. If neither a root token file nor a
        tokens file is configured, return the environment variable ASC_TOKEN. Return None if no token is set.

        The variable is ignored if a tokens file is configured, because the commands also read a caller's token from it.
        Otherwise, a token with few permissions would permit everything if the variable had it when the daemon starts.
        """
        path = self.api.root_token_file
        if path is None:
            return None if self.api.tokens_file is not None else os.environ.get("ASC_TOKEN") or None
        token = read_text("root token file", path).strip()
        if not token:
            raise ConfigError("root token file", str(path), "is empty: write the bearer token into it")
        return token

    def named_tokens(self, token: str | None) -> dict[str, Scope] | None:
        """Return the scopes of the tokens in the tokens file, by the hash of the token. ``token``: the token that
        permits everything.

        Return None if no tokens file is configured. Raise ConfigError.
        """
        path = self.api.tokens_file
        if path is None:
            return None
        named = parse_tokens(read_text("tokens file", path), path)
        if token is not None and digest(token) in named:
            remedy = "is the token of api.root_token_file too, which may do everything: take one of them out"
            raise ConfigError("token", named[digest(token)].name, remedy)
        return named

    def tls(self) -> ssl.SSLContext | None:
        """Return the API's TLS context. Return None if the API uses no TLS. Raise ConfigError."""
        certificate, key = self.api.tls_cert_file, self.api.tls_key_file
        if certificate is None and key is None:
            return None
        if certificate is None or key is None:
            given, missing = ("key", "cert") if certificate is None else ("cert", "key")
            remedy = f"goes with api.tls_{missing}_file: set both"
            raise ConfigError(f"api.tls_{given}_file", str(key or certificate), remedy)
        return server_context(certificate, key)

    def check(self) -> None:
        """Raise ConfigError or ConfigFaultsError for faults that involve several sections."""
        _raise([] if self.streams else [_no_stream()], self.faults())

    def faults(self) -> Iterator[ConfigError]:
        """Yield the faults that involve several sections.

        These are conflicts between streams and topics, between the address and the token, and between each stream's
        format and its options and schema.
        """
        yield from self.kafka.faults()
        yield from self.spark.faults()
        yield from self.schema_registry.faults()
        dead_letters = {collision_name(self.dead_letter_topic(name)) for name in self.streams}
        feeds = {collision_name(self.feed_topic(name)) for name in self.streams}
        registry_topic = collision_name(self.kafka.registry_topic)
        if registry_topic in dead_letters | feeds:
            remedy = "is a topic of a stream of the broker's: choose another"
            yield ConfigError("kafka.registry_topic", self.kafka.registry_topic, remedy)
        named: dict[str, str] = {}
        for name, stream in self.streams.items():
            where = f"streams.{name}"
            try:
                check_stream_name(name)
            except ConfigError as error:
                yield error
            other = named.setdefault(collision_name(name), name)
            if other != name:
                remedy = f"has topics that are those of '{other}' to Kafka, to which '.' and '_' are equal: rename it"
                yield ConfigError("stream name", name, remedy)
            topic = collision_name(stream.topic)
            if topic == registry_topic or stream.topic.startswith("__"):
                yield ConfigError(
                    f"{where}.topic", stream.topic, "is the registry or an internal topic: name the source topic"
                )
            if topic in feeds:
                yield ConfigError(f"{where}.topic", stream.topic, "is the feed of a stream: name the source topic")
            if topic in dead_letters:
                yield ConfigError(f"{where}.topic", stream.topic, "takes undecodable records: name the source topic")
            yield from stream.faults(where, self.schema_registry.registry())
        taken = {registry_topic: "the registry's", **dict.fromkeys(dead_letters, "for dead letters")}
        taken.update(dict.fromkeys(feeds, "the feed of a stream"))
        taken.update((collision_name(each.topic), f"read by stream '{name}'") for name, each in self.streams.items())
        for name, layer in self.layers.items():
            yield from layer_faults(name, layer, taken)
            taken[collision_name(layer.topic)] = f"that of layer '{name}'"
        yield from self._faults_of_access()

    def _faults_of_access(self) -> Iterator[ConfigError]:
        token, is_read = None, True
        try:
            token = self.token()
        except ConfigError as error:
            is_read = False
            yield error
        for check in (partial(self.named_tokens, token), self.tls):
            try:
                check()
            except ConfigError as error:
                yield error
        if not is_read:
            return
        if self.api.is_loopback:
            return
        if token is None:
            if self.api.tokens_file is None:
                remedy = (
                    "reachable from outside: set api.root_token_file (or ASC_TOKEN, or api.tokens_file), "
                    "or use 127.0.0.1"
                )
                yield ConfigError("api.host", self.api.host, remedy)
            return
        try:
            check_secret(token)
        except ConfigError as error:
            name = "ASC_TOKEN" if self.api.root_token_file is None else f"root token file '{self.api.root_token_file}'"
            yield ConfigError(f"{name}: {error.subject}", error.value, f"is asked for from outside and {error.remedy}")


def load_config(
    path: Path | None,
    *,
    embedded: bool = False,
    master: str | None = None,
    variables: Mapping[str, str] = os.environ,
) -> Config:
    """Return the configuration of a TOML file, or the defaults if ``path`` is None.

    The ``variables`` (:mod:`broker.config.environment`) override the file. ``embedded`` (the daemon's own Kafka) and
    ``master`` (Spark's master) override both. Relative paths are relative to the file's folder, or to the working
    directory if there is no file. Raise ConfigError, or ConfigFaultsError with all faults if there are several.
    """
    if path is None and not has_variables(variables):
        config = Config()
    else:
        overlay = overlaid({} if path is None else _document(path), variables, Config)
        parsed, faults = _parsed(overlay)
        config, wrong_paths = _resolved(parsed, Path() if path is None else path.resolve().parent)
        config = _with_own_kafka(config) if embedded else config
        # If a stream's table cannot be read, report the fault in it, and not that there is no stream.
        has_streams = path is None or overlay.document.get("streams") or config.streams
        reported = (of_variables(fault, overlay) for fault in chain(wrong_paths, config.faults()))
        _raise(faults, [] if has_streams else [_no_stream()], reported)
    if embedded:
        config = _with_own_kafka(config)
    if master is not None:
        config = config.model_copy(update={"spark": config.spark.model_copy(update={"master": master})})
        _raise(config.spark.faults())
    return config


def origins(path: Path | None, variables: Mapping[str, str] = os.environ) -> dict[KeyPath, str]:
    """Return the source of each key that is not at its default: the name of the file or of a variable. Raise
    ConfigError.
    """
    document = {} if path is None else _document(path)
    overlay = overlaid(document, variables, Config)
    file = {} if path is None else dict.fromkeys(_paths(document), path.name)
    return {**file, **overlay.origins}


def _paths(table: Mapping[str, Any], above: KeyPath = ()) -> Iterator[KeyPath]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _paths(value, (*above, key))
        else:
            yield (*above, key)


def _with_own_kafka(config: Config) -> Config:
    # The options belong to the configured Kafka: its credentials would prevent access to the embedded one.
    own = config.kafka.model_copy(update={"bootstrap_servers": None, "options": {}})
    return config.model_copy(update={"kafka": own})


def load_kafka_options(path: Path | None, variables: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return ``[kafka.options]`` from a TOML file and from variables, even if other sections of the file are invalid.
    Commands that connect to Kafka themselves call this function. Raise the errors of :func:`load_config`.
    """
    overlay = overlaid({} if path is None else _document(path), variables, Config)
    kafka = overlay.document.get("kafka", {})
    alone = {"options": kafka.get("options", {})} if isinstance(kafka, dict) else kafka
    config, faults = _parsed(replace(overlay, document={"kafka": alone}))
    _raise(faults, (of_variables(fault, overlay) for fault in config.kafka.faults()))
    return dict(config.kafka.options)


def parse_config(document: dict[str, Any]) -> Config:
    """Return a parsed document as a configuration. Raise ConfigError or ConfigFaultsError if its keys are invalid."""
    config, faults = _parsed(Overlay(document, {}, ()))
    _raise(faults)
    return config


def _document(path: Path) -> dict[str, Any]:
    text = read_text("configuration file", path)
    try:
        return parse_toml(text)
    except ValueError as error:
        raise ConfigError("configuration file", str(path), f"is not TOML: {error}") from error


def _parsed(overlay: Overlay) -> tuple[Config, list[ConfigError]]:
    """Return the valid part of a document as a configuration, and the faults of the rest."""
    document = overlay.document
    try:
        return Config.model_validate(document), list(overlay.faults)
    except ValidationError as error:
        details = error.errors(include_url=False)
    sound = {key: dict(value) if isinstance(value, dict) else value for key, value in document.items()}
    for detail in details:
        section, *key = _texts(detail)
        if key and isinstance(sound.get(section), dict):
            # If a key of a stream is invalid, remove the whole table, because the rest of it is no valid stream.
            sound[section].pop(key[0], None)
        else:
            sound.pop(section, None)
    misspelt = {(*d["loc"][:-1], _nearest_key(_texts(d))) for d in details if d["type"] == "extra_forbidden"}
    reported = [detail for detail in details if detail["type"] != "missing" or detail["loc"] not in misspelt]
    faults = (of_variables(_fault(detail), overlay, _texts(detail)) for detail in reported)
    return Config.model_validate(sound), [*overlay.faults, *faults]


def _texts(detail: ErrorDetails) -> tuple[str, ...]:
    return tuple(map(str, detail["loc"]))


def _fault(detail: ErrorDetails) -> ConfigError:
    """Return a fault that pydantic found, in one line."""
    location = _texts(detail)
    key = ".".join(location)
    if location[:2] in (("kafka", "options"), ("spark", "options")):
        # Any value here may be a secret, and so may the parts of a dotted name without quotes.
        remedy = 'is not text: write "its.name" = "value", the name in quotes when it has dots'
        return ConfigError("configuration key", ".".join(location[:3]), remedy)
    if detail["type"] == "extra_forbidden":
        renamed = _section_at(location).renamed.get(location[-1])
        if renamed is not None:
            return ConfigError("renamed configuration key", key, f"write '{renamed}'")
        near = _nearest_key(location)
        remedy = f"did you mean '{near}'?" if near else f"known here: {', '.join(_keys_beside(location))}"
        return ConfigError("unknown configuration key", key, remedy)
    if detail["type"] == "missing":
        return ConfigError("missing configuration key", key, "add it")
    message = str(detail["msg"]).removeprefix("Value error, ")
    message = re.sub(r" or instance of \w+$", "", message[:1].lower() + message[1:])
    message = "give a table" if message.endswith("valid dictionary") else value_remedy(detail) or message
    value = detail["input"] if not SECRET_KEY.search(key) else "********"
    return ConfigError(f"configuration key {key}", value, message)


def _nearest_key(location: tuple[str, ...]) -> str | None:
    near = difflib.get_close_matches(location[-1], _keys_beside(location), n=1, cutoff=0.5)
    return near[0] if near else None


def _keys_beside(location: tuple[str, ...]) -> list[str]:
    """Return the known keys of the section in which a location ends."""
    return [field.alias or name for name, field in _section_at(location).model_fields.items()]


def _section_at(location: tuple[str, ...]) -> type[Section]:
    """Return the section that holds the last key of a location."""
    section: type[Section] = Config
    for part in location[:-1]:
        if part in section.model_fields:
            annotation = section.model_fields[part].annotation
            if isinstance(annotation, type) and issubclass(annotation, Section):
                section = annotation
            elif part == "streams":
                section = StreamConfig
            elif part == "layers":
                section = LayerConfig
    return section


def _no_stream() -> ConfigError:
    remedy = 'add one, as [streams.flights] with topic = "flights", format = "json", schema = "delay INT"'
    return ConfigError("configuration without a stream", "streams", remedy)


def _raise(*found: Iterable[ConfigError]) -> None:
    faults = list(chain.from_iterable(found))
    if len(faults) > 1:
        raise ConfigFaultsError(faults[0].subject, faults[0].value, faults[0].remedy, faults)
    if faults:
        raise faults[0]


def _resolved(config: Config, folder: Path) -> tuple[Config, list[ConfigError]]:
    """Return the configuration with its paths resolved against a folder, and the errors of paths that cannot be
    resolved.
    """
    faults: list[ConfigError] = []

    def under(path: Path | None) -> Path | None:
        try:
            return None if path is None else folder / path.expanduser()
        except RuntimeError:
            faults.append(ConfigError("path", str(path), "begins with a home folder that is not known: write it out"))
            return path

    def place(archive: str | None) -> str | None:
        # An address with a scheme, such as hdfs://, https:// or local://, is not a path of this host.
        return archive if archive is None or "://" in archive else str(under(Path(archive)))

    streams = {
        name: stream.model_copy(update={"schema_file": under(stream.schema_file)})
        for name, stream in config.streams.items()
    }
    resolved = config.model_copy(
        update={
            "kafka": config.kafka.model_copy(update={"data_dir": under(config.kafka.data_dir)}),
            "api": config.api.model_copy(
                update={name: under(getattr(config.api, name)) for name in type(config.api).paths()}
            ),
            "schema_registry": config.schema_registry.model_copy(
                update={name: under(getattr(config.schema_registry, name)) for name in SchemaRegistryConfig.paths()}
            ),
            "spark": config.spark.model_copy(
                update={
                    "checkpoint_dir": under(config.spark.checkpoint_dir),
                    "python_archive": place(config.spark.python_archive),
                }
            ),
            "streams": streams,
        }
    )
    return resolved, faults
