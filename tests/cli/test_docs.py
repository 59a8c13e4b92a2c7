"""The pages that must follow the code: the configuration, the library, the predicates, and the links between them."""

from __future__ import annotations

import doctest
import json
import re
import sys
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Union, get_args, get_origin

import pytest
from pydantic import BaseModel

import cli
from asc.errors import PredicateError
from asc.predicate import normalise
from asc.predicate.functions import FUNCTIONS
from asc.schema import Schema
from broker.config.config import Config, StreamConfig, parse_config
from broker.config.layer_config import LayerConfig
from cli.reference import with_functions

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from conftest import Asc

ROOT = Path(cli.__file__).parent.parent
CONFIGURATION = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")


def documented(section: str) -> dict[str, str]:
    """Key to default of a section's table."""
    body = CONFIGURATION.split(f"## `[{section}]`", 1)[1].split("\n## ", 1)[0]
    return dict(re.findall(r"^\| `(\w+)` \| ([^|]+?) \|", body, re.MULTILINE))


SECTIONS = {name: field.annotation for name, field in Config.model_fields.items() if name not in ("streams", "layers")}

NAMED = {"streams.NAME": StreamConfig, "layers.NAME": LayerConfig}


@pytest.mark.parametrize(("section", "model"), [*SECTIONS.items(), *NAMED.items()])
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
            assert shown == (default if isinstance(default, str) else json.dumps(default, default=str).strip('"'))


def test_the_options_that_the_page_gives_kafka_python_are_those_it_has() -> None:
    from kafka.admin import KafkaAdminClient

    (bullet,) = re.findall(r"^- kafka-python, .*?(?=\n\n)", CONFIGURATION, re.MULTILINE | re.DOTALL)
    names = {name.replace(".", "_") for name in re.findall(r"`([a-z.]+)`", bullet)}
    taken = {name for name in KafkaAdminClient.DEFAULT_CONFIG if name.startswith(("security_", "sasl_", "ssl_"))}
    as_objects = {"ssl_context", "sasl_oauth_token_provider"}
    assert names == taken - as_objects


@pytest.mark.parametrize("page", ["README.md", "docs/configuration.md"])
def test_the_configurations_on_the_pages_are_right(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    assert blocks
    for block in blocks:
        assert parse_config(tomllib.loads(block)).streams


def test_links_between_the_pages_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "workloads" / "data").glob("*.md")]
    for page in pages:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_the_library_page_says_what_the_matcher_gives() -> None:
    page = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    session = "\n".join(code for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if code.startswith(">>>"))
    example = doctest.DocTestParser().get_doctest(session, {}, "library.md", "docs/library.md", 0)
    report: list[str] = []
    results = doctest.DocTestRunner().run(example, out=report.append)
    assert results.attempted > 10
    assert results.failed == 0, "".join(report)


def test_the_page_of_functions_lists_every_function() -> None:
    page = (ROOT / "docs" / "reference" / "functions.md").read_text(encoding="utf-8")
    assert page == with_functions(page), "make it again: python -m cli.reference"
    assert all(f"| `{name}` |" in page for name in FUNCTIONS)


def takes_constant_pattern(function: str) -> bool:
    """Return whether a call is refused for the regular expression that a record would bring."""
    for arguments in ("s, t", "s, t, ''"):
        try:
            normalise(f"{function}({arguments}) IS NOT NULL", Schema.from_ddl("s STRING, t STRING"))
        except PredicateError as error:
            if "must be a constant string, or made of such ones" in str(error):
                return True
    return False


def test_the_page_on_predicates_names_every_function_whose_pattern_is_a_constant() -> None:
    page = (ROOT / "docs" / "predicates.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"a pattern of the record given to (.*?)\.\n?", page)
    assert {name for name in FUNCTIONS if takes_constant_pattern(name)} == set(re.findall(r"`(\w+)`", listed))


@pytest.mark.kafka
@pytest.mark.spark
def test_the_library_page_says_how_a_daemon_is_asked(asc: Asc, capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    (example,) = (code for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "broker.Client(" in code)
    assert "http://127.0.0.1:8750" in example
    exec(example.replace("http://127.0.0.1:8750", asc.server), {})
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("registered from offset {'0': ")
    assert printed[1] == "['landed']"
    assert printed[2].endswith(" of the last records")
    assert printed[3] == "404 unknown query 'late': 'asc query list' shows the registered ones"
