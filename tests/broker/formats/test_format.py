"""What a stream's configuration asks of its format."""

from __future__ import annotations

import pytest

from broker.formats.registry import FORMATS


@pytest.mark.parametrize("name", FORMATS)
def test_an_option_that_is_none_is_told_with_the_nearest_one(name: str) -> None:
    record_format = FORMATS[name]
    known = record_format.own_options[0]
    ((option, _, remedy),) = record_format.wrong_options({f"{known}x": "1"})
    assert (option, remedy) == (f"{known}x", f"is not a decoding option: did you mean '{known}'?")
    ((_, _, remedy),) = record_format.wrong_options({"0123456789": "1"})
    assert f"known for {name}: " in remedy
