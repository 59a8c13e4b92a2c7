"""Layers through the client, against a real daemon."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from broker.client.client import Client
from broker.client.errors import NotFoundError, RefusedError

if TYPE_CHECKING:
    from conftest import Site

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def test_shapes_are_put_listed_shown_and_removed(layered_site: Site) -> None:
    assert layered_site.daemon is not None
    ring = [[0, 0], [1, 0], [1, 1], [0, 0]]
    shape = {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [ring]}, "properties": {"high": 3}}
    lines = [json.dumps({"id": name, **shape}) for name in ("a", "b/c")]
    wrong = json.dumps({"id": "d", **shape, "properties": {"high": "tall"}})
    with Client(layered_site.daemon.url) as client:
        assert {one["name"] for one in client.layers.list()} == {"plane", "zones"}
        assert client.layers.put("zones", "\n".join(lines).encode())["put"] == 2
        with pytest.raises(RefusedError) as caught:
            client.layers.put("zones", wrong.encode())
        assert [(one["line"], one["id"]) for one in caught.value.lines] == [(1, "d")]
        put = client.layers.put("zones", f"{lines[0]}\n{wrong}".encode(), keep_going=True)
        assert (put["put"], [one["id"] for one in put["errors"]]) == (1, ["d"])
        assert [one["id"] for one in client.layers.shapes("zones")] == ["a", "b/c"]
        assert [one["vertices"] for one in client.layers.shapes("zones", "b")] == [4]
        assert client.layers.shape("zones", "b/c")["properties"] == {"high": 3}
        assert client.layers.show("zones")["rows"] == 2
        joined = client.add(
            "over",
            "ST_Contains(zones.geometry, ST_Point(d, d)) AND n < zones.high",
            stream=layered_site.stream("json"),
            join={"layer": "zones", "per_shape": False},
        )
        assert joined["query"]["join"] == {"layer": "zones", "per_shape": False}
        assert [(one["id"], one["shapes"]) for one in client.list(layer="zones")] == [("over", 2)]
        assert client.excluded_shapes("over") == []
        client.remove("over")
        for shape_id in ("a", "b/c"):
            assert client.layers.remove("zones", shape_id)["removed"] == 1
        with pytest.raises(NotFoundError):
            client.layers.shape("zones", "a")
