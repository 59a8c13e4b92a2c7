"""What keeps a daemon from starting is said in one line."""

from __future__ import annotations

import gc
import socket
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from asc.errors import AscError
from bench.ports import free_port
from broker.access.secret import digest, new_secret
from broker.config.config import Config, load_config
from broker.daemon.daemon import Daemon
from broker.errors import ConfigError

if TYPE_CHECKING:
    from conftest import Site
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def started(config: Config, spark: SparkSession) -> str:
    with pytest.raises(AscError) as caught:
        Daemon(config, spark=spark).start()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def changed(config: Config, section: str, **change: Any) -> Config:
    return config.model_copy(update={section: getattr(config, section).model_copy(update=change)})


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_a_taken_port_is_named(site: Site, spark: SparkSession, taken_port: int) -> None:
    line = started(changed(site.config, "api", port=taken_port), spark)
    assert f"API address '127.0.0.1:{taken_port}': cannot be bound (Address already in use)" in line


def test_an_unreachable_kafka_is_named(site: Site, spark: SparkSession, tmp_path: Path) -> None:
    free = free_port()
    config = changed(site.config, "kafka", bootstrap_servers=f"127.0.0.1:{free}", timeout_s=1.0)
    line = started(changed(config, "spark", checkpoint_dir=tmp_path), spark)
    assert line.startswith(f"Kafka '127.0.0.1:{free}': does not answer: check kafka.bootstrap_servers")


def test_a_checkpoint_folder_has_one_daemon(site: Site, spark: SparkSession) -> None:
    assert "belongs to another running daemon" in started(site.config, spark)


def test_a_missing_topic_that_may_not_be_made_is_named(site: Site, spark: SparkSession, tmp_path: Path) -> None:
    missing = f"missing-{uuid.uuid4().hex}"
    name = site.stream("json")
    stream = site.config.streams[name].model_copy(update={"topic": missing})
    config = changed(site.config, "kafka", allow_topic_creation=False).model_copy(update={"streams": {name: stream}})
    line = started(changed(config, "spark", checkpoint_dir=tmp_path), spark)
    assert f"missing topic '{missing}': create it, or set kafka.allow_topic_creation" in line


def test_what_a_start_made_is_passed_over_by_the_cyclic_collector(site: Site) -> None:
    assert site.daemon is not None
    names = {id(stream) for stream in site.daemon.streams().values()}
    assert not any(id(each) in names for each in gc.get_objects())


def test_tokens_are_read_again_with_the_configuration(tmp_path: Path) -> None:
    """Of a daemon whose API alone was started; what SIGHUP reads is wrong where its tokens file is."""
    file, tokens = tmp_path / "asc.toml", tmp_path / "tokens.toml"
    stream = '[streams.s]\ntopic = "s"\nformat = "json"\nschema = "n INT"\n'
    file.write_text(f'[api]\nport = 0\ntokens_file = "tokens.toml"\n{stream}')
    first, second = new_secret(), new_secret()
    tokens.write_text(f'[tokens.first]\nsha256 = "{digest(first)}"\n')
    daemon = Daemon(load_config(file))
    try:
        daemon._start_api()

        def status(secret: str) -> int:
            headers = {"Authorization": f"Bearer {secret}"}
            return httpx.get(f"{daemon.url}/v1/queries", headers=headers).status_code

        assert (status(first), status(second)) == (503, 401)
        tokens.write_text(f'[tokens.second]\nsha256 = "{digest(second)}"\n')
        daemon.reload_access()
        assert (status(first), status(second)) == (401, 503)
        tokens.write_text("[tokens.third]\n")
        with pytest.raises(ConfigError, match=r"tokens file '.*tokens.toml': token 'third': sha256: is missing"):
            load_config(file)
        assert (status(first), status(second)) == (401, 503)
    finally:
        daemon.stop()
