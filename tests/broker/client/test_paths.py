"""Paths with names of users in them."""

from __future__ import annotations

import pytest

from broker.client.errors import InvalidRequestError
from broker.client.paths import block_path, layer_path, query_path, shape_path


def test_a_name_is_one_segment_of_the_path() -> None:
    assert query_path("../a b?c#d") == "/v1/queries/..%2Fa%20b%3Fc%23d"
    assert shape_path("zones", "a/b") == "/v1/layers/zones/shapes/a%2Fb"
    assert (layer_path("z"), block_path("s", 3)) == ("/v1/layers/z", "/v1/plan/s/blocks/3")


@pytest.mark.parametrize("name", ["", ".", "..", "\ud800"])
def test_a_name_that_would_lead_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(InvalidRequestError, match="query id"):
        query_path(name)
