"""Pass-through settings of Kafka's clients and of Spark's parsers, and which of them are secret."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator

SECRET_KEY = re.compile(r"password|secret|token|jaas|credential|\.key$", re.IGNORECASE)
"""Keys whose values are never shown."""


def _option_text(value: Any) -> Any:
    # Spark and Kafka spell booleans and numbers as text; TOML writers do not.
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, (int, float)) else value


Options = dict[str, Annotated[str, BeforeValidator(_option_text)]]
"""Pass-through settings: key to text."""


def masked(options: Mapping[str, str]) -> dict[str, str]:
    """Options with the values of secrets hidden.

    >>> masked({"ssl.key.password": "x", "security.protocol": "SSL"})
    {'ssl.key.password': '********', 'security.protocol': 'SSL'}
    """
    return {key: "********" if SECRET_KEY.search(key) else value for key, value in options.items()}
