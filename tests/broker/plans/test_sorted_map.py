"""The sorted map against a dictionary, with chunks so small that they are cut and fall away."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from broker.plans import sorted_map
from broker.plans.sorted_map import SortedMap

KEYS = st.integers(0, 40)


class Maps(RuleBasedStateMachine):
    """Puts and removals; earlier maps stay what they were."""

    def __init__(self) -> None:
        super().__init__()
        self.plain: dict[int, tuple[int]] = {}
        self.map: SortedMap[int, tuple[int]] = SortedMap()
        self.step = 0

    @rule(puts=st.sets(KEYS, max_size=9), removes=st.sets(KEYS, max_size=9))
    def change(self, puts: set[int], removes: set[int]) -> None:
        before, held = self.map, dict(self.plain)
        self.step += 1
        self.map = self.map.changed(dict.fromkeys(puts, (self.step,)), removes)
        assert dict(before) == held
        assert self.map.differences(before) == before.differences(self.map) == (removes & held.keys()) | puts
        for key in removes:
            self.plain.pop(key, None)
        self.plain.update(dict.fromkeys(puts, (self.step,)))

    @invariant()
    def it_is_the_dictionary_in_order(self) -> None:
        assert list(self.map.items()) == sorted(self.plain.items())
        assert len(self.map) == len(self.plain)
        for key in range(-1, 42):
            assert self.map.get(key) == self.plain.get(key)
            assert (key in self.map) == (key in self.plain)
            assert list(self.map.items_from(key)) == sorted(item for item in self.plain.items() if item[0] >= key)
            # What is over is asked of keys from there on alone.
            for end in (key, key + 1, key + 7, 50):
                assert self.map.count_from(key, lambda each, key=key, end=end: not key <= each < end) == len(
                    [each for each in self.plain if key <= each < end]
                )


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorted_map, "_CHUNK", 3)


class TestMaps(Maps.TestCase):  # type: ignore[misc]
    """With the chunks of this module."""


def test_a_change_of_one_key_copies_one_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorted_map, "_CHUNK", 100)
    large = SortedMap({key: key for key in range(10_000)})
    after = large.changed({5_000: -1})
    assert sum(one is not other for one, other in zip(large._chunks, after._chunks, strict=True)) == 1


def test_nothing_changed_is_the_map_itself() -> None:
    large = SortedMap({1: 2})
    assert large.changed({}, []) is large
