"""The configuration file: what is read from it, and the one line for each thing that can be wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from asc.errors import AscError
from broker.access.secret import digest, new_secret
from broker.config.config import Config, load_config, load_kafka_options
from broker.config.layer_config import LayerConfig
from broker.config.sections import Section
from broker.config.streams import StreamConfig
from broker.errors import ConfigError, ConfigFaultsError

STREAM = """
[streams.flights]
topic = "flights"
format = "json"
schema = "dep_delay INT NOT NULL, place STRUCT<city: STRING NOT NULL>"
"""


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    return tmp_path / "asc.toml"


def read(path: Path, text: str) -> Config:
    path.write_text(text, "utf-8")
    return load_config(path)


def test_defaults_without_a_file() -> None:
    config = load_config(None)
    assert config.kafka.bootstrap_servers is None
    assert (config.api.host, config.api.port) == ("127.0.0.1", 8750)


def test_a_whole_file(config_file: Path) -> None:
    (config_file.parent / "schema.json").write_text(
        '{"type": "struct", "fields": [{"name": "a", "type": "integer", "nullable": true, "metadata": {}}]}', "utf-8"
    )
    config = read(
        config_file,
        STREAM
        + """
        [streams.orders]
        topic = "orders"
        format = "csv"
        schema_file = "schema.json"
        options = { sep = ";", maxColumns = 10, ignoreLeadingWhiteSpace = true }
        [kafka]
        bootstrap_servers = "one:9092, two:9092"
        [kafka.options]
        "security.protocol" = "SSL"
        [spark]
        time_zone = "Europe/Oslo"
        [limits]
        conjuncts = 8
        """,
    )
    assert config.streams["orders"].options == {"sep": ";", "maxColumns": "10", "ignoreLeadingWhiteSpace": "true"}
    assert config.streams["orders"].fields().arrow.names == ["a"]
    assert config.spark.checkpoint_dir == config_file.parent / "asc-data/checkpoint"
    assert config.limits.conjuncts == 8
    assert config.dead_letter_topic("orders") == "orders.dead-letter"


def test_embedded_leaves_the_configured_kafka_out(config_file: Path) -> None:
    text = STREAM + '[kafka]\nbootstrap_servers = "one:9092"\noptions = {"security.protocol" = "SASL_SSL"}\n'
    config_file.write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=r"kafka.options 'sasl.mechanism'"):
        load_config(config_file)
    embedded = load_config(config_file, embedded=True).kafka
    assert (embedded.bootstrap_servers, embedded.options) == (None, {})


BAD = {
    "unknown key": (
        STREAM + "[kafka]\nbootstrap_server = 'a:1'",
        "'kafka.bootstrap_server': did you mean 'bootstrap_servers'",
    ),
    "unknown section": (STREAM + "[kafak]", "unknown configuration key 'kafak': did you mean 'kafka'"),
    "unknown stream key": (STREAM.replace("schema", "schem"), "'streams.flights.schem': did you mean 'schema'"),
    "internal topic": (STREAM.replace('"flights"', '"__x"'), "is the registry or an internal topic"),
    "registry as source": (STREAM.replace('"flights"', '"asc.queries"'), "is the registry or an internal topic"),
    "dead letters as source, to Kafka": (
        STREAM.replace('"flights"', '"flights_dead-letter"'),
        "takes undecodable records",
    ),
    "a feed as source, to Kafka": (STREAM.replace('"flights"', '"asc_feed.flights"'), "is the feed of a stream"),
    "streams of one name to Kafka": (
        STREAM.replace(".flights]", '."a.b"]') + STREAM.replace(".flights]", ".a_b]").replace('"flights"', '"others"'),
        "stream name 'a_b': has topics that are those of 'a.b' to Kafka",
    ),
    "dead letters as source": (STREAM.replace('"flights"', '"flights.dead-letter"'), "takes undecodable records"),
    "registry as dead letters": (
        STREAM + "[kafka]\nregistry_topic = 'flights.dead-letter'",
        "kafka.registry_topic 'flights.dead-letter': is a topic of a stream of the broker's",
    ),
    "no home folder": (
        STREAM + "[kafka]\ndata_dir = '~nobody-of-this-name/kafka'",
        "path '~nobody-of-this-name/kafka': begins with a home folder that is not known",
    ),
    "no stream": ("", "add one, as [streams.flights] with topic = "),
    "no table": ("[streams]\ns = 1", "configuration key streams.s 1: give a table"),
    "no TOML": ("x = ", "is not TOML"),
    "reachable without a token": (
        STREAM + "[api]\nhost = '0.0.0.0'",
        "reachable from outside: set api.root_token_file",
    ),
    "missing token file on this machine": (STREAM + "[api]\nroot_token_file = 'none'", "none': cannot be read"),
    "missing token file": (STREAM + "[api]\nhost = '0.0.0.0'\nroot_token_file = 'none'", "none': cannot be read"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_configuration_is_one_clear_line(case: str, config_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASC_TOKEN", raising=False)
    text, said = BAD[case]
    with pytest.raises(AscError) as caught:
        read(config_file, text)
    line = str(caught.value)
    assert said in line
    assert "\n" not in line


def test_everything_that_is_wrong_is_named_each_in_one_line(config_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASC_TOKEN", raising=False)
    text = """
    [kafka]
    bootstrap_servers = "one"
    data_dir = "~nobody-of-this-name/kafka"
    options = { "max.request.size" = "1 MB", "buffer.memory" = "x" }
    [api]
    host = "0.0.0.0"
    prot = 8750
    [spark]
    driver_memory = "2 gigs"
    [streams.a]
    topc = "a"
    format = "json"
    schema = "n INT"
    [streams.b]
    topic = "b c"
    format = "xml"
    [streams.c]
    topic = "__c"
    format = "csv"
    schema = "_key INT, place STRUCT<city: STRING>"
    options = { timestampFormt = "x", sep = "" }
    [streams."d e"]
    topic = "d"
    format = "json"
    schema = "n INTT"
    """
    with pytest.raises(ConfigFaultsError) as caught:
        read(config_file, text)
    wanted = [
        "configuration key kafka.bootstrap_servers 'one': write host:port",
        "unknown configuration key 'api.prot': did you mean 'port'?",
        "configuration key spark.driver_memory '2 gigs': write a whole number",
        "unknown configuration key 'streams.a.topc': did you mean 'topic'?",
        "configuration key streams.b.topic 'b c': use 1 to 249",
        "configuration key streams.b.format 'xml': use one of json, csv",
        "path '~nobody-of-this-name/kafka': begins with a home folder",
        "kafka.options.max.request.size '1 MB': write a number of bytes",
        "kafka.options.buffer.memory 'x': write a number of bytes",
        "streams.c.topic '__c': is the registry or an internal topic",
        "streams.c.options.timestampFormt 'x': is not a decoding option: did you mean 'timestampFormat'?",
        "streams.c.options.sep '': give the separator",
        "streams.c.schema: field '_key': the name is the record's own attribute",
        "streams.c.schema: field 'place': CSV holds no nested values",
        "stream name 'd e': use 1 to 100",
        "streams.d e.schema: unknown type 'INTT'",
        "api.host '0.0.0.0': reachable from outside",
    ]
    found = list(map(str, caught.value.faults))
    assert [line[: len(start)] for line, start in zip(found, wanted, strict=True)] == wanted
    assert not [line for line in found if "\n" in line]
    assert str(caught.value) == f"{found[0]} (and 16 more: 'asc config --config FILE' names them)"


def test_a_stream_that_cannot_be_read_is_not_said_to_be_missing(config_file: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read(config_file, STREAM.replace("topic", "topc"))
    assert str(caught.value) == "unknown configuration key 'streams.flights.topc': did you mean 'topic'?"


RENAMED = {
    "api.token_file": "root_token_file",
    "api.metrics_queries": "metrics_top_queries",
    "spark.packed": "python_archive",
    "spark.expression_limit_s": "expression_timeout_s",
    "streams.flights.ahead_s": "max_future_s",
    "layers.countries.wide_edges": "allow_edges_over_180_deg",
}


@pytest.mark.parametrize(("key", "name"), RENAMED.items(), ids=RENAMED)
def test_a_key_of_an_earlier_version_is_refused_with_its_present_name(config_file: Path, key: str, name: str) -> None:
    section, old = key.rsplit(".", 1)
    table = STREAM if section == "streams.flights" else f"{STREAM}[{section}]"
    table += '\ntopic = "countries"' if section == "layers.countries" else ""
    with pytest.raises(ConfigError) as caught:
        read(config_file, f"{table}\n{old} = 1\n")
    assert str(caught.value).startswith(f"renamed configuration key '{key}': write '{name}'")
    variable = f"ASC__{key.upper().replace('.', '__')}"
    config_file.write_text(f'{STREAM}[layers.countries]\ntopic = "countries"\n', "utf-8")
    with pytest.raises(ConfigError, match=f"^{variable}: renamed configuration key '{key}': write '{name}'"):
        load_config(config_file, variables={variable: "1"})


def test_every_renamed_key_is_tried_and_its_present_name_is_a_key() -> None:
    sections: dict[str, type[Section]] = {"streams.flights": StreamConfig, "layers.countries": LayerConfig}
    for name, field in Config.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            sections[name] = field.annotation
    tables = {f"{name}.{old}": new for name, section in sections.items() for old, new in section.renamed.items()}
    assert tables == RENAMED
    for name, section in sections.items():
        assert set(section.renamed.values()) <= section.model_fields.keys(), name
        assert not section.renamed.keys() & section.model_fields.keys(), name


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        load_config(tmp_path / "none.toml")


def test_a_value_that_may_be_a_secret_is_not_repeated(config_file: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read(config_file, STREAM + "[kafka.options]\n'ssl.key.password' = ['hunter2']\n")
    assert "hunter2" not in str(caught.value)


def test_a_dotted_name_without_quotes_is_told_without_its_value(config_file: Path) -> None:
    for line in ("sasl.jaas.config = 'hunter2'", "sasl = ['hunter2']", "sasl.jaas.config.x = {hunter2 = 'hunter2'}"):
        with pytest.raises(ConfigError, match="the name in quotes when it has dots") as caught:
            read(config_file, STREAM + f"[kafka.options]\n{line}\n")
        assert "hunter2" not in str(caught.value)


def test_the_configuration_can_be_printed_without_its_secrets(config_file: Path) -> None:
    config = read(config_file, STREAM + "[kafka.options]\n'sasl.jaas.config' = 'hunter2'\n'linger.ms' = 7\n")
    for text in (repr(config), str(config), repr(config.kafka), str(config.kafka)):
        assert "hunter2" not in text
        assert "'linger.ms': '7'" in text


def test_outside_with_a_token_is_allowed(config_file: Path) -> None:
    secret = new_secret()
    (config_file.parent / "token").write_text(f"{secret}\n", "utf-8")
    assert read(config_file, STREAM + "[api]\nhost = '0.0.0.0'\nroot_token_file = 'token'").token() == secret


@pytest.mark.parametrize("token", ["a" * 16, "sixteen-of-these", "ab" * 40, "x"])
def test_outside_a_token_that_can_be_found_by_trying_is_refused(
    token: str, config_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (config_file.parent / "token").write_text(f"{token}\n", "utf-8")
    outside = STREAM + "[api]\nhost = '0.0.0.0'\n"
    said = (
        f"bearer token '{len(token)} characters': is asked for from outside and can be found by trying: 32 characters"
    )
    with pytest.raises(ConfigError, match=f"root token file '.*': {said}") as caught:
        read(config_file, outside + "root_token_file = 'token'")
    assert token == "x" or token not in str(caught.value)
    monkeypatch.setenv("ASC_TOKEN", token)
    with pytest.raises(ConfigError, match=f"ASC_TOKEN: {said}"):
        read(config_file, outside)
    assert read(config_file, STREAM + "[api]\nroot_token_file = 'token'").token() == token


def test_clients_beside_the_daemon_read_its_options_of_kafka_alone(config_file: Path) -> None:
    config_file.write_text('[kafka]\noptions = {"acks" = 1}\n[streams.x]\n', "utf-8")
    assert load_kafka_options(config_file) == {"acks": "1"}
    config_file.write_text('kafka = "x"\n', "utf-8")
    with pytest.raises(ConfigError, match="configuration key kafka"):
        load_kafka_options(config_file)
    config_file.write_text('[kafka.options]\n"security.protocol" = "TLS"\n', "utf-8")
    with pytest.raises(ConfigError, match=r"kafka.options 'security.protocol' 'TLS'"):
        load_kafka_options(config_file)


def test_a_token_of_the_file_does_not_become_the_one_that_may_do_everything(
    config_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = new_secret()
    (config_file.parent / "tokens.toml").write_text(f'[tokens.ops]\nsha256 = "{digest(secret)}"\nid_prefix = "ops-"\n')
    monkeypatch.setenv("ASC_TOKEN", secret)
    text = STREAM + "[api]\ntokens_file = 'tokens.toml'\n"
    config = read(config_file, text)
    assert config.token() is None
    assert [scope.id_prefix for scope in (config.named_tokens(None) or {}).values()] == ["ops-"]
    (config_file.parent / "token").write_text(secret)
    with pytest.raises(AscError, match=r"token 'ops': is the token of api\.root_token_file too"):
        read(config_file, f"{text}root_token_file = 'token'\n")
