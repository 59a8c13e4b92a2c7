"""Spark's own properties: those that say where it runs may be set, those that say what is delivered may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker.config.config import load_config, parse_config
from broker.config.sections import SparkConfig
from broker.config.spark_options import masked_spark, spark_option_remedy
from broker.errors import ConfigError

STREAM = {"streams": {"s": {"topic": "t", "format": "json", "schema": "n INT"}}}

FREE = [
    "spark.driver.host",
    "spark.executor.memory",
    "spark.executorEnv.OMP_NUM_THREADS",
    "spark.cores.max",
    "spark.kubernetes.container.image",
    "spark.yarn.queue",
    "spark.authenticate",
    "spark.authenticate.secret",
    "spark.jars.packages",
    "spark.hadoop.fs.s3a.endpoint",
]
TAKEN = [
    "spark.sql.ansi.enabled",
    "spark.sql.session.timeZone",
    "spark.sql.mapKeyDedupPolicy",
    "spark.sql.streaming.pollingDelay",
    "spark.python.daemon.module",
    "spark.python.worker.reuse",
    "spark.speculation",
    "spark.speculation.multiplier",
    "spark.app.name",
    "spark.driver.memory",
    "spark.executor.killOnFatalError.depth",
    "spark.master",
    "spark.cores.maximum",
    "spark",
    "driver.host",
    "",
]


@pytest.mark.parametrize("key", FREE)
def test_where_and_with_what_spark_runs_is_the_users(key: str) -> None:
    assert spark_option_remedy(key) is None
    parse_config({"spark": {"options": {key: "x"}}, **STREAM}).check()


@pytest.mark.parametrize("key", TAKEN)
def test_what_predicates_mean_and_what_is_delivered_is_not(key: str) -> None:
    with pytest.raises(ConfigError, match=f"spark.options.{key}"):
        parse_config({"spark": {"options": {key: "x"}}, **STREAM}).check()


def test_what_is_named_by_an_option_of_ours_is_said() -> None:
    assert spark_option_remedy("spark.driver.memory") == "is spark.driver_memory here"


def test_what_may_be_a_secret_is_shown_nowhere() -> None:
    options = {
        "spark.executor.memory": "2g",
        "spark.authenticate.secret": "hidden",
        "spark.hadoop.fs.s3a.secret.key": "hidden",
        "spark.executor.extraJavaOptions": "-Djavax.net.ssl.keyStorePassword=hidden",
        "spark.executorEnv.TOKEN": "hidden",
    }
    config = parse_config({"spark": {"options": options}, **STREAM})
    assert "hidden" not in repr(config)
    shown = config.effective()["spark"]["options"]
    assert shown == masked_spark(options)
    assert [value for value in shown.values() if value != "********"] == ["2g"]


def test_a_value_that_is_refused_is_not_told(tmp_path: Path) -> None:
    path = tmp_path / "asc.toml"
    path.write_text('[spark.options]\n"spark.sql.x" = "hidden"\n', "utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert "hidden" not in str(caught.value)
    path.write_text('[spark.options]\nspark.executor.memory = "hidden"\n', "utf-8")
    with pytest.raises(ConfigError, match="the name in quotes") as caught:
        load_config(path)
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("master", ["", "loca[2]", "local[0]", "spark:/host:7077", "spark://host", "spark://host:port"])
def test_a_master_that_is_none_is_told_before_anything_starts(tmp_path: Path, master: str) -> None:
    path, stream = tmp_path / "asc.toml", '[streams.s]\ntopic = "t"\nformat = "json"\nschema = "n INT"\n'
    path.write_text(stream)
    with pytest.raises(ConfigError, match=r"spark\.master"):
        load_config(path, master=master)
    path.write_text(f'[spark]\nmaster = "{master}"\n{stream}')
    with pytest.raises(ConfigError, match=r"spark\.master"):
        load_config(path)


@pytest.mark.parametrize(
    "master", ["local", "local[*]", "local[2,4]", "spark://a:7077,b:7077", "yarn", "k8s://https://host:443"]
)
def test_masters_of_spark_are_taken(master: str) -> None:
    assert list(SparkConfig(master=master).faults()) == []


def test_a_master_that_is_given_stands_in_for_that_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "asc.toml"
    text = '[spark]\nmaster = "local[2]"\n[streams.s]\ntopic = "t"\nformat = "json"\nschema = "n INT"\n'
    path.write_text(text, "utf-8")
    assert load_config(path).spark.master == "local[2]"
    assert load_config(path, master="spark://host:7077").spark.master == "spark://host:7077"


def test_packages_that_are_no_file_are_told_where_they_are_sent(tmp_path: Path) -> None:
    path = tmp_path / "asc.toml"
    path.write_text('[spark]\npython_archive = "p.tar"\n[streams.s]\ntopic = "t"\nformat = "json"\nschema = "n INT"\n')
    with pytest.raises(
        ConfigError, match=r"spark\.python_archive '.*p\.tar': is no file: write it with 'asc runtime pack'"
    ):
        load_config(path, master="spark://host:7077")
    (tmp_path / "p.tar").touch()
    assert load_config(path, master="spark://host:7077").spark.python_archive == str(tmp_path / "p.tar")


@pytest.mark.parametrize(
    ("packed", "resolved"),
    [
        ("packages.tar", "{}/packages.tar"),
        ("/elsewhere/p.tar", "/elsewhere/p.tar"),
        ("hdfs://h/p.tar", "hdfs://h/p.tar"),
    ],
)
def test_packages_are_found_beside_the_file_or_by_their_address(tmp_path: Path, packed: str, resolved: str) -> None:
    path = tmp_path / "asc.toml"
    path.write_text(
        f'[spark]\npython_archive = "{packed}"\n[streams.s]\ntopic = "t"\nformat = "json"\nschema = "n INT"\n'
    )
    assert load_config(path).spark.python_archive == resolved.format(tmp_path)


def test_who_logs_in_by_an_address_is_shown_nowhere() -> None:
    options = {
        "spark.jars": "https://me:hid@den@repo/x.jar,file:///opt/y.jar",
        "spark.archives": "s3a://KEY:hidden@bucket/x.tgz#env",
        "spark.files": "https://host/z?signature=hidden&name=a/b,https://host:8080/dir@2/w",
    }
    stream = {"topic": "t", "format": "json", "schema": "n INT"}
    spark = {"options": options, "python_archive": "s3a://KEY:hidden@bucket/p.tgz"}
    config = parse_config({"spark": spark, "streams": {"s": stream}})
    shown = config.effective()["spark"]
    assert shown["options"] == {
        "spark.jars": "https://********@repo/x.jar,file:///opt/y.jar",
        "spark.archives": "s3a://********@bucket/x.tgz#env",
        "spark.files": "https://host/z?********,https://host:8080/dir@2/w",
    }
    assert shown["python_archive"] == "s3a://********@bucket/p.tgz"
    for text in (repr(config), str(config.spark)):
        assert "hid" not in text
        assert "KEY" not in text


def test_nothing_is_set_by_default() -> None:
    assert (SparkConfig().options, SparkConfig().python_archive) == ({}, None)
