"""Topics of layers, with Kafka: written, followed, read again at any mark, and what of them is refused."""

from __future__ import annotations

import json
import logging
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import shapely

from asc.spatial.feature import Feature, feature_text
from broker.config.config import Config, parse_config
from broker.errors import QueryError, TopicError
from broker.kafka.cluster import KafkaCluster
from broker.kafka.embedded import EmbeddedKafka
from broker.layers.layers import Layers, check_layer
from broker.layers.mark import LayerMark
from broker.layers.stored_layer import StoredLayer

pytestmark = pytest.mark.kafka


def config_of(kafka: EmbeddedKafka, folder: Path, **limits: int) -> Config:
    own = uuid.uuid4().hex[:12]
    return parse_config(
        {
            "kafka": {"bootstrap_servers": kafka.bootstrap_servers},
            "spark": {"checkpoint_dir": str(folder)},
            "limits": limits,
            "layers": {"zones": {"topic": f"zones-{own}"}, "towns": {"topic": f"towns-{own}"}},
        }
    )


@pytest.fixture
def config(kafka: EmbeddedKafka, tmp_path: Path) -> Config:
    return config_of(kafka, tmp_path)


@pytest.fixture(scope="module")
def cluster(kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    cluster = KafkaCluster(kafka.bootstrap_servers, config_of(kafka, tmp_path_factory.mktemp("layers")).kafka)
    yield cluster
    cluster.close()


@pytest.fixture
def layers(config: Config, cluster: KafkaCluster) -> Iterator[Layers]:
    layers = Layers(config, cluster)
    layers.make()
    yield layers
    layers.close()


def row(size: float) -> bytes:
    return feature_text(Feature(shapely.box(0, 0, size, size), {})).encode()


def sizes(layer: StoredLayer) -> dict[str, float]:
    return {key: one.shape.bounds[2] for key, one in layer.rows.items() if one.shape is not None}


def followed(layers: Layers, standing: dict[str, StoredLayer], name: str, **rows: float | None) -> set[str]:
    """Write rows, those that are None removed, and follow until they are there; the ids that changed."""
    puts = {key: row(size) for key, size in rows.items() if size is not None}
    written = {name: layers.write(name, puts, [key for key, size in rows.items() if size is None])}
    changed: set[str] = set()
    for found, news in layers.news(standing, written).items():
        standing[found] = news.after
        changed |= news.changed
    assert standing[name].mark.reaches(written[name])
    return changed


def caught_up(layers: Layers, standing: dict[str, StoredLayer], name: str, rows: int) -> set[str]:
    """Follow until a layer has so many rows; the ids that changed."""
    changed: set[str] = set()
    deadline = time.monotonic() + 60
    while len(standing[name].rows) < rows:
        assert time.monotonic() < deadline
        for found, news in layers.news(standing).items():
            standing[found] = news.after
            changed |= news.changed
    return changed


def test_what_is_written_is_followed_and_read_again_at_every_mark(layers: Layers) -> None:
    standing, _ = layers.at({})
    assert layers.news(standing) == {}
    marks: list[tuple[dict[str, LayerMark], dict[str, float]]] = []
    for step in ({"a": 1.0, "b": 2.0}, {"b": 3.0, "c": 4.0}, {"a": None}, {"a": 5.0, "b": None}):
        assert followed(layers, standing, "zones", **step) == set(step)
        followed(layers, standing, "towns", x=len(marks) + 1.0)
        marks.append(({name: one.mark for name, one in standing.items()}, sizes(standing["zones"])))
    assert marks[-1][1] == {"a": 5.0, "c": 4.0}
    assert layers.news(standing) == {}
    for at, wanted in marks:
        found, _ = layers.at(at)
        assert sizes(found["zones"]) == wanted
        assert found["zones"].mark == at["zones"]
    _, changed = layers.at(marks[3][0], since=marks[1][0])
    assert changed == {"zones": {"a", "b"}, "towns": {"x"}}
    assert layers.at(marks[3][0], since=marks[3][0])[1] == {"zones": set(), "towns": set()}


def test_who_follows_from_an_earlier_mark_gets_what_came_since(layers: Layers) -> None:
    standing, _ = layers.at({})
    before = dict(standing)
    followed(layers, standing, "zones", a=1.0)
    followed(layers, standing, "zones", b=2.0)
    # As where the registry could not be written: what was read is not lost.
    assert caught_up(layers, before, "zones", 2) == {"a", "b"}
    assert sizes(before["zones"]) == {"a": 1.0, "b": 2.0}


def test_garbage_of_others_is_told_and_leaves_the_rest(config: Config, cluster: KafkaCluster, layers: Layers) -> None:
    standing, _ = layers.at({})
    followed(layers, standing, "zones", a=1.0)
    producer = cluster.client.producer()
    bow_tie = {"type": "Polygon", "coordinates": [[[0, 0], [2, 2], [2, 0], [0, 2], [0, 0]]]}
    for key, value in (
        (b"a", json.dumps({"type": "Feature", "geometry": bow_tie}).encode()),
        (b"b", b"\xff"),
        (None, row(1)),
        (b"\xff", row(1)),
        (b"c", row(7)),
    ):
        # A compacted topic takes no record without a key.
        if key is not None:
            producer.send(config.layers["zones"].topic, value, key)
    producer.flush()
    producer.close()
    caught_up(layers, standing, "zones", 2)
    zones = standing["zones"]
    assert sizes(zones) == {"a": 1.0, "c": 7.0}
    assert set(zones.refused) == {"a", "b"}
    assert zones.unkeyed == 1


def test_half_of_a_load_is_never_seen(config: Config, cluster: KafkaCluster, layers: Layers) -> None:
    standing, _ = layers.at({})
    producer = cluster.client.producer(transactional_id=f"half-{uuid.uuid4().hex}")
    producer.init_transactions()
    producer.begin_transaction()
    producer.send(config.layers["zones"].topic, row(1), b"a")
    producer.flush()
    producer.abort_transaction()
    producer.close()
    assert followed(layers, standing, "zones", b=2.0) == {"b"}
    assert sizes(layers.at({name: one.mark for name, one in standing.items()})[0]["zones"]) == {"b": 2.0}


def test_another_topic_of_the_name_is_read_from_its_start(
    config: Config, cluster: KafkaCluster, layers: Layers, caplog: pytest.LogCaptureFixture
) -> None:
    standing, _ = layers.at({})
    followed(layers, standing, "zones", a=1.0)
    marks = {"zones": LayerMark(standing["zones"].mark.offsets, "00000000-0000-0000-0000-00000000002a")}
    with caplog.at_level(logging.WARNING):
        found, changed = layers.at(marks, since=marks)
    assert "its topic is another one now" in caplog.text
    assert (len(found["zones"].rows), changed["zones"]) == (0, None)
    assert caught_up(layers, found, "zones", 1) == {"a"}


def test_a_topic_that_would_lose_shapes_is_refused(config: Config, cluster: KafkaCluster) -> None:
    cluster.create_topics([config.layers["zones"].topic], {"cleanup.policy": "delete"})
    with pytest.raises(TopicError, match=r"loses what is old: set its cleanup.policy to compact alone"):
        Layers(config, cluster).make()


def test_a_topic_that_forgets_soon_is_told(
    config: Config, cluster: KafkaCluster, caplog: pytest.LogCaptureFixture
) -> None:
    cluster.create_topics([config.layers["zones"].topic], {"cleanup.policy": "compact"})
    with caplog.at_level(logging.WARNING):
        Layers(config, cluster).make()
    assert "layer 'zones': its topic forgets within a week" in caplog.text
    assert "layer 'towns'" not in caplog.text


def test_a_row_that_is_too_large_leaves_nothing(layers: Layers) -> None:
    standing, _ = layers.at({})
    with pytest.raises(TopicError, match="cannot be written"):
        layers.write("zones", {"a": row(1), "b": b"x" * 20_000_000})
    assert followed(layers, standing, "zones", c=2.0) == {"c"}


def test_a_layer_that_is_not_configured_is_refused() -> None:
    check_layer("zones", {"zones"})
    with pytest.raises(QueryError, match="unknown layer 'x': known: zones"):
        check_layer("x", {"zones"})
    with pytest.raises(QueryError, match="none is configured"):
        check_layer("x", ())
