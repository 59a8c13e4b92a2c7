"""The lock: what it names, and that it is the connector of the PySpark that is installed."""

from __future__ import annotations

import dataclasses
import re

import pyspark
import pytest

from broker.errors import RuntimeMissingError
from broker.runtime.locked_jars import (
    LOCK_FILE,
    format_lock,
    kafka_node,
    locked_sets,
    parse_lock,
    spark_connector,
)


def test_the_connector_is_that_of_the_installed_spark() -> None:
    names = [jar.file_name for jar in spark_connector().jars]
    assert f"spark-sql-kafka-0-10_2.13-{pyspark.__version__}.jar" in names
    assert any(name.startswith("kafka-clients-") for name in names)
    # What PySpark ships is not fetched again.
    assert not any(name.startswith(("hadoop-", "scala-library-", "slf4j-api-")) for name in names)


def test_another_pyspark_is_told_which_one_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyspark, "__version__", "4.1.0")
    with pytest.raises(RuntimeMissingError, match=r"^pyspark '4\.1\.0': .*pip install pyspark==4\.0\.0$"):
        spark_connector()


def test_the_packages_ask_for_the_pyspark_of_the_lock() -> None:
    pyproject = (LOCK_FILE.parents[2] / "pyproject.toml").read_text()
    assert f'"pyspark=={spark_connector().version}"' in pyproject


def test_every_jar_is_named_in_full() -> None:
    for jar_set in locked_sets():
        assert list(jar_set.jars) == sorted(jar_set.jars, key=lambda jar: jar.file_name)
        assert len({jar.file_name for jar in jar_set.jars}) == len(jar_set.jars)
        for jar in jar_set.jars:
            assert re.fullmatch(r"[0-9a-f]{64}", jar.sha256)
            group, artifact = jar.name.split(":")
            assert jar.path == f"{group.replace('.', '/')}/{artifact}/{jar.version}/{jar.file_name}"
            assert jar.size_bytes > 0
    assert any(jar.name == "org.apache.kafka:kafka_2.13" for jar in kafka_node().jars)


def test_the_file_is_as_it_is_written() -> None:
    text = LOCK_FILE.read_text()
    assert format_lock(parse_lock(text)) == text
    assert sum(line.startswith('   {"name"') for line in text.splitlines()) == sum(len(s.jars) for s in locked_sets())


def test_another_content_has_another_folder() -> None:
    node = kafka_node()
    first = dataclasses.replace(node.jars[0], sha256="0" * 64)
    assert dataclasses.replace(node, jars=(first, *node.jars[1:])).folder_name != node.folder_name
    assert dataclasses.replace(node, jars=node.jars[1:]).folder_name != node.folder_name
