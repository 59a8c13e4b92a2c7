"""The pages that must follow the code."""

from __future__ import annotations

import re
from pathlib import Path
from types import UnionType
from typing import Union, get_args, get_origin

import pytest
import tomllib
from pydantic import BaseModel

import cli.reference
from broker.config import Config, StreamConfig, parse_config

ROOT = Path(cli.reference.__file__).parent.parent
CONFIGURATION = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")


def test_the_reference_of_the_commands_is_up_to_date() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert page == cli.reference.reference(), "make it again: python -m cli.reference"


def documented(section: str) -> dict[str, str]:
    """Key to default of a section's table."""
    body = CONFIGURATION.split(f"## `[{section}]`", 1)[1].split("\n## ", 1)[0]
    return dict(re.findall(r"^\| `(\w+)` \| ([^|]+?) \|", body, re.MULTILINE))


SECTIONS = {name: field.annotation for name, field in Config.model_fields.items() if name != "streams"}


@pytest.mark.parametrize(("section", "model"), [*SECTIONS.items(), ("streams.NAME", StreamConfig)])
def test_every_key_of_the_configuration_is_documented_with_its_default(section: str, model: type[BaseModel]) -> None:
    rows = documented(section)
    assert set(rows) == {field.alias or name for name, field in model.model_fields.items()}
    for name, field in model.model_fields.items():
        shown = rows[field.alias or name].strip("`")
        default = field.get_default(call_default_factory=True) if not field.is_required() else None
        if default is None:
            optional = type(None) in get_args(field.annotation) and get_origin(field.annotation) in (Union, UnionType)
            assert shown in (("not set", "this or `schema_file", "this or `schema") if optional else ("required",))
        else:
            assert shown == (str(default).lower() if isinstance(default, bool) else str(default))


@pytest.mark.parametrize("page", ["README.md", "docs/configuration.md"])
def test_the_configurations_on_the_pages_are_right(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    assert blocks
    for block in blocks:
        assert parse_config(tomllib.loads(block)).streams


def test_links_between_the_pages_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "workloads" / "data").glob("*.md")]
    for page in pages:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
