"""The commands see nothing of the environment that the tests happen to run in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

VARIABLES = ("ASC_TOKEN", "ASC_SERVER", "ASC_DEBUG")


@pytest.fixture(autouse=True, scope="module")
def no_variables_of_asc() -> Iterator[None]:
    """Of the scope of the daemon that the tests share, so that it starts without them as well."""
    with pytest.MonkeyPatch.context() as patch:
        for name in VARIABLES:
            patch.delenv(name, raising=False)
        yield
