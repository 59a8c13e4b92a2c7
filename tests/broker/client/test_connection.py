"""Pages are asked for when they are needed, and threads share a connection."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING

from broker.client.client import Client

if TYPE_CHECKING:
    from conftest import Address


def test_a_page_is_asked_for_when_the_one_before_is_used_up(address: Address) -> None:
    address.will_answer(200, {"queries": [{"id": "a"}, {"id": "a&b"}], "cursor": "a&b"})
    address.will_answer(200, {"queries": [{"id": "c"}], "cursor": None})
    with Client(f"{address.url}/") as client:
        found = client.list(prefix="x y", operator="near", label=None, page_size=2)
        assert address.asked == []
        assert [one["id"] for one in islice(found, 2)] == ["a", "a&b"]
        assert address.asked == [("GET", "/v1/queries?limit=2&prefix=x+y&operator=near")]
        assert [one["id"] for one in found] == ["c"]
    assert address.asked[1] == ("GET", "/v1/queries?limit=2&prefix=x+y&operator=near&cursor=a%26b")


def test_threads_share_a_client(address: Address) -> None:
    for _ in range(40):
        address.will_answer(200, {"loads": []})
    with Client(address.url) as client, ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda _: client.loads(), range(40))) == [[]] * 40
