"""The layers of the configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from asc.errors import ShapeError
from asc.spatial.reading import Rules, of_wkt
from broker.config.config import load_config, parse_config
from broker.config.sections import LimitsConfig
from broker.errors import ConfigError

STREAM = {"topic": "aircraft", "format": "json", "schema": "lon DOUBLE, lat DOUBLE"}


def config(**layers: Any) -> Any:
    return parse_config({"streams": {"aircraft": STREAM}, "layers": layers})


def test_rules_are_those_of_the_layer_and_the_limits() -> None:
    found = config(zones={"topic": "zones", "crs": "planar", "allow_edges_over_180_deg": True})
    rules = found.layers["zones"].rules(found.limits)
    assert (rules.is_planar, rules.allow_edges_over_180_deg, rules.repairs, rules.vertices_max) == (
        True,
        True,
        False,
        1_000_000,
    )
    assert found.limits.layer_shapes == 2_000_000
    found.check()


def test_a_shape_has_as_many_vertices_as_the_limit_and_no_more() -> None:
    def rules(shape_vertices: int) -> Rules:
        found: Rules = (
            config(zones={"topic": "zones"}).layers["zones"].rules(LimitsConfig(shape_vertices=shape_vertices))
        )
        return found

    square = "POLYGON ((0 0, 1 0, 1 1, 0 1, 0 0))"
    assert of_wkt(square, rules(5))
    with pytest.raises(ShapeError, match="vertices of a shape 5: at most 4"):
        of_wkt(square, rules(4))


@pytest.mark.parametrize(
    ("layers", "said"),
    [
        ({"a/b": {"topic": "zones"}}, "layer name 'a/b': use 1 to 100"),
        ({"zones": {"topic": "aircraft"}}, "layers.zones.topic 'aircraft': is read by stream 'aircraft'"),
        ({"zones": {"topic": "asc.queries"}}, "is the registry's: name a topic of its own"),
        ({"zones": {"topic": "aircraft.dead-letter"}}, "is for dead letters"),
        ({"zones": {"topic": "aircraft_dead-letter"}}, "is for dead letters"),
        ({"zones": {"topic": "asc_feed_aircraft"}}, "is the feed of a stream"),
        ({"zones": {"topic": "__consumer_offsets"}}, "is an internal topic"),
        ({"a": {"topic": "zones"}, "b": {"topic": "zones"}}, "layers.b.topic 'zones': is that of layer 'a'"),
    ],
)
def test_a_topic_is_a_layers_alone(layers: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config(**layers).check()
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("layer", "said"),
    [
        ({}, "missing configuration key 'layers.zones.topic': add it"),
        ({"topic": "zones", "csr": "planar"}, "'layers.zones.csr': did you mean 'crs'?"),
        ({"topic": "zones", "crs": "degrees"}, "layers.zones.crs 'degrees'"),
        ({"topic": "z z"}, "use 1 to 249 of the characters"),
        ({"topic": "zones", "allow_edges_over_180_deg": "yes"}, "layers.zones.allow_edges_over_180_deg"),
    ],
)
def test_what_is_wrong_with_a_table_is_told(layer: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config(zones=layer)
    assert said in str(caught.value)


def test_variables_set_the_keys_of_a_layer(tmp_path: Path) -> None:
    file = tmp_path / "asc.toml"
    file.write_text(
        '[streams.a]\ntopic = "a"\nformat = "json"\nschema = "n INT"\n[layers.no-fly]\ntopic = "zones"\n', "utf-8"
    )
    variables = {"ASC__LAYERS__NO_FLY__CRS": "planar", "ASC__LAYERS__TOWNS__TOPIC": "towns"}
    found = load_config(file, variables=variables).layers
    assert {name: (one.topic, one.crs) for name, one in found.items()} == {
        "no-fly": ("zones", "planar"),
        "towns": ("towns", "wgs84"),
    }
