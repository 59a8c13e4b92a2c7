"""TOML within bounds."""

from __future__ import annotations

import pytest

from broker.toml_text import parse_toml


def test_a_document_is_read() -> None:
    assert parse_toml("[a]\nb = 1") == {"a": {"b": 1}}


def test_texts_with_many_dots_are_no_keys() -> None:
    dots = ".".join("abc" for _ in range(500))
    assert parse_toml(f'a = "{dots}"\nb = ["x", \'{dots}\']\n# {dots}') == {"a": dots, "b": ["x", dots]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = " + "[" * 20_000, "it is nested too deeply"),
        ("a = " + "{b=" * 20_000, "it is nested too deeply"),
        ("x" + ".a" * 100 + " = 1", "it is nested too deeply"),
        ("[x" + " . 'a'" * 20_000 + "]", "it is nested too deeply"),
        ("[[" + '"x".' * 20_000 + "a]]", "it is nested too deeply"),
        ("a = {" + "x." * 20_000 + "x = 1}", "it is nested too deeply"),
        ("[x" + ".a" * 60 + "]\ny" + ".b" * 60 + " = 1", "it is nested too deeply"),
        ("a = " + ("{x" + ".x" * 90 + "=") * 30 + "1" + "}" * 30, "it is nested too deeply"),
        ("a =", "Invalid value"),
        ("a = 1\na = 2", "overwrite"),
    ],
    ids=[
        "arrays",
        "tables",
        "key",
        "header",
        "header of tables",
        "key within",
        "sum",
        "keys within",
        "nothing",
        "twice",
    ],
)
def test_a_text_that_is_none_has_a_reason(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_toml(text)
