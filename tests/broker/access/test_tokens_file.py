"""The tokens file: read as a whole, and wrong in one clear line that shows no hash."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker.access.scope import Scope
from broker.access.tokens_file import RESERVED_NAMES, TokenEntry, check_token_name, parse_tokens
from broker.errors import ConfigError

PATH = Path("tokens.toml")
HASH = "ab" * 32
OTHER = "cd" * 32


def test_a_token_has_the_limits_of_its_table() -> None:
    text = f"""
    [tokens.ops]
    sha256 = "{HASH}"
    id_prefix = "ops-"
    streams = ["flights"]
    topic_prefixes = ["ops.", "alerts."]
    columns = ["delay", "Place.City"]
    max_queries = 10
    [tokens."a.b"]
    sha256 = "{OTHER}"
    read_only = true
    """
    assert parse_tokens(text, PATH) == {
        HASH: Scope(
            "ops",
            id_prefix="ops-",
            streams=frozenset({"flights"}),
            topic_prefixes=("ops.", "alerts."),
            columns=frozenset({("delay",), ("place", "city")}),
            max_queries=10,
        ),
        OTHER: Scope("a.b", read_only=True),
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tokens.ops", "tokens file 'tokens.toml': is not TOML: "),
        ("", "holds tables [tokens.NAME], one at least"),
        ("tokens = 1", "holds tables [tokens.NAME]"),
        ("[tokens]", "holds tables [tokens.NAME]"),
        (f'[tokens.a]\nsha256 = "{HASH}"\n[other]', "and nothing else"),
        ("[tokens]\na = 1", "token 'a': is no table"),
        ("[tokens.a]", "token 'a': sha256: is missing: 'asc token new NAME' prints it"),
        ('[tokens.a]\nsha256 = "secret"', "token 'a': sha256: write the SHA-256 of a token"),
        (
            f'[tokens.a]\nsha256 = "{HASH}"\nid_prefixes = "x"',
            "token 'a': id_prefixes: is unknown: use sha256",
        ),
        (f'[tokens.a]\nsha256 = "{HASH}"\nid_prefix = ""', "token 'a': id_prefix: "),
        (f'[tokens.a]\nsha256 = "{HASH}"\nid_prefix = ["x"]', "token 'a': id_prefix: "),
        (f'[tokens.a]\nsha256 = "{HASH}"\nstreams = "s"', "token 'a': streams: write a list, as [\"s\"]"),
        (f'[tokens.a]\nsha256 = "{HASH}"\nstreams = []', "token 'a': streams: "),
        (f'[tokens.a]\nsha256 = "{HASH}"\ntopic_prefixes = [""]', "token 'a': topic_prefixes.0: "),
        (f'[tokens.a]\nsha256 = "{HASH}"\ncolumns = ["a."]', "token 'a': columns: write a column"),
        (f'[tokens.a]\nsha256 = "{HASH}"\nmax_queries = -1', "token 'a': max_queries: "),
        (f'[tokens.a]\nsha256 = "{HASH}"\nmax_queries = "1"', "token 'a': max_queries: "),
        (f'[tokens.a]\nsha256 = "{HASH}"\nread_only = 1', "token 'a': read_only: "),
        (f'[tokens.a]\nsha256 = "{HASH}"\n[tokens.b]\nsha256 = "{HASH}"', "token 'b': has the token of 'a'"),
        (f'[tokens."a b"]\nsha256 = "{HASH}"', "token name 'a b': use 1 to 100 of"),
        (f'[tokens.daemon]\nsha256 = "{HASH}"', "token name 'daemon': is what the audit calls another"),
    ],
)
def test_what_is_wrong_is_one_line_without_a_hash(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        parse_tokens(text, PATH)
    message = str(refusal.value)
    assert said in message
    assert "tokens.toml" in message
    assert "\n" not in message
    assert HASH not in message
    assert "secret" not in message


def test_an_entry_is_read_as_it_was_written() -> None:
    entry = TokenEntry(
        sha256=HASH, id_prefix="ops-", streams=("a", "b"), columns=('`a.b`."x"', "é\x7f\U0001f600"), max_queries=0
    )
    for name in ("ops", "o.ps", "1"):
        assert parse_tokens(entry.toml(name), PATH) == {HASH: entry.scope(name)}


@pytest.mark.parametrize("name", ["", "a b", "-a", "a\n", "é", "x" * 101, *RESERVED_NAMES])
def test_a_name_that_no_token_may_have(name: str) -> None:
    with pytest.raises(ConfigError, match="token name"):
        check_token_name(name)
