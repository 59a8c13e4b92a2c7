"""Records of a source topic that are gone before a stopped daemon has read them."""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Site

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]


def reason_not_to_run(site: Site) -> str:
    """Start the daemon, and stop it when its stream has failed; why it does, of /readyz."""
    site.daemon = site.start()
    deadline = time.monotonic() + 60
    while "started again" not in (reason := str(site.client.get("/readyz").json()["reason"])):
        assert time.monotonic() < deadline, reason
        time.sleep(0.1)
    site.daemon.stop()
    return reason


def test_the_remedy_is_named_and_helps(site: Site) -> None:
    from kafka import TopicPartition
    from kafka.admin import KafkaAdminClient

    name = site.stream("json")
    source, folder = site.config.streams[name].topic, site.config.spark.checkpoint_dir / name
    topic = site.register("all", "n >= 0")["query"]["topic"]
    site.publish([b'{"n": 1}'])
    site.drain()
    assert site.daemon is not None
    site.daemon.stop()
    admin = KafkaAdminClient(bootstrap_servers=site.bootstrap_servers)
    try:
        admin.delete_topics([source])
        made_again = reason_not_to_run(site)
        shutil.rmtree(folder)
        site.daemon = site.start()
        site.publish([b'{"n": 2}'])
        deadline = time.monotonic() + 60
        while [record.value for record in site.read(topic)] != [b'{"n": 1}', b'{"n": 2}']:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        site.daemon.stop()
        offsets = site.publish([b'{"n": 3}'] * 5)
        admin.delete_records({TopicPartition(source, 0): offsets[3]})
        expired = reason_not_to_run(site)
    finally:
        admin.close()
    for reason in (made_again, expired):
        assert f"source topic '{source}': records expired unread, or the topic was made again (" in reason
        assert f": stop the daemon and remove {folder}, and the stream begins at its starting_offsets" in reason
    assert f"Partition {source}-0 offset was changed from 3 to 0)" in made_again
    assert f"Could not read records in offset [{offsets[0]}, {offsets[4] + 1})" in expired
