"""The characters between ids and topics are in none of them, and mean nothing where Spark splits at them."""

from __future__ import annotations

import re

import pytest

from broker.config.streams import StreamConfig
from broker.matching.matches_text import AFTER_TOPIC, BETWEEN_IDS, BETWEEN_TOPICS

SEPARATORS = (BETWEEN_IDS, AFTER_TOPIC, BETWEEN_TOPICS)


@pytest.mark.parametrize("separator", SEPARATORS)
def test_each_is_one_character_that_stands_for_itself(separator: str) -> None:
    assert len(separator) == 1
    assert re.split(separator, f"a{separator}b") == ["a", "b"]
    assert len(set(SEPARATORS)) == len(SEPARATORS)


@pytest.mark.parametrize("separator", SEPARATORS)
def test_no_topic_holds_one(separator: str) -> None:
    with pytest.raises(ValueError, match="topic"):
        StreamConfig.model_validate({"topic": f"a{separator}b", "format": "json", "schema": "n INT"})
