"""The table of all fuzzing targets, by name."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from tools.fuzz.target import Target

TARGETS = {
    "parser": "tools.fuzz.parser:ParserTarget",
    "reader": "tools.fuzz.reader:ReaderTarget",
    "api": "tools.fuzz.api:ApiTarget",
    "decoder": "tools.fuzz.decoder:DecoderTarget",
    "schemas": "tools.fuzz.schemas:SchemasTarget",
    "feed": "tools.fuzz.feed:FeedTarget",
}
"""The location of each target. Targets are imported when they are used, because some start Spark."""


def target_named(name: str) -> Target:
    """Return a new target, by its name in this table, or by its location, such as
    ``tools.fuzz.parser:ParserTarget``.
    """
    module, _, kind = TARGETS.get(name, name).partition(":")
    return cast(Target, getattr(import_module(module), kind)())
