"""The configuration: one TOML file, checked as a whole before anything starts."""

from __future__ import annotations

import difflib
import importlib
import os
import re
import sys
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from broker.config.options import SECRET_KEY, masked
from broker.config.sections import ApiConfig, KafkaConfig, LimitsConfig, MonitorConfig, Section, SparkConfig
from broker.config.streams import StreamConfig, check_stream_name
from broker.config.text_file import read_text
from broker.errors import ConfigError


class Config(Section):
    """The whole configuration. Frozen; ``load_config`` makes one from a file."""

    kafka: KafkaConfig = KafkaConfig()
    api: ApiConfig = ApiConfig()
    spark: SparkConfig = SparkConfig()
    limits: LimitsConfig = LimitsConfig()
    monitor: MonitorConfig = MonitorConfig()
    streams: dict[str, StreamConfig] = Field(default_factory=dict)

    def dead_letter_topic(self, stream: str) -> str:
        return f"{stream}.dead-letter"

    def effective(self) -> dict[str, Any]:
        """Every setting as it holds, defaults included, with secrets masked; plain values, ready for JSON."""
        plain = self.model_dump(mode="json", by_alias=True)
        plain["kafka"]["options"] = masked(plain["kafka"]["options"])
        return plain

    def token(self) -> str | None:
        """The bearer token that the API asks for: from the token file, else from ASC_TOKEN, else none."""
        if self.api.token_file is None:
            return os.environ.get("ASC_TOKEN") or None
        token = read_text("token file", self.api.token_file).strip()
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
            check_stream_name(name)
            if stream.topic == self.kafka.registry_topic or stream.topic.startswith("__"):
                raise ConfigError(
                    f"{where}.topic", stream.topic, "is the registry or an internal topic: name the source topic"
                )
            if stream.topic in dead_letters:
                raise ConfigError(f"{where}.topic", stream.topic, "takes undecodable records: name the source topic")
            stream.check(where)
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
        text = read_text("configuration file", path)
        try:
            document = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ConfigError("configuration file", str(path), f"is not TOML: {error}") from error
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
        value = first["input"] if not SECRET_KEY.search(key) else "********"
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


def _resolved(config: Config, folder: Path) -> Config:
    def under(path: Path | None) -> Path | None:
        try:
            return None if path is None else folder / path.expanduser()
        except RuntimeError:
            raise ConfigError("path", str(path), "begins with a home folder that is not known: write it out") from None

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
