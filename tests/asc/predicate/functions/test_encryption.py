"""Encryption with AES."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from asc.predicate.expressions.expression import Expression

KEY = "'0123456789abcdef'"


@pytest.mark.parametrize(
    "rest",
    [
        "",
        ", 'GCM'",
        ", 'CBC', 'PKCS'",
        ", t",
        ", 'GCM', 'NONE', ''",
        ", 'GCM', 'NONE', X''",
        ", 'GCM', 'NONE', raw",
        ", 'CBC', 'PKCS', unhex('')",
        ", 'CBC', 'PKCS', unhex(s)",
        ", 'CBC', 'PKCS', unhex('zz')",
    ],
)
def test_what_is_left_to_chance_is_refused(rest: str, trouble_of: Callable[[str], str]) -> None:
    assert "draws a random vector" in trouble_of(f"aes_encrypt(s, {KEY}{rest})")


@pytest.mark.parametrize(
    "rest", ["'ECB'", "'ecb', 'PKCS'", "'CBC', 'DEFAULT', X'00'", "'GCM', 'NONE', unhex('00ff'), t"]
)
def test_what_is_not_is_caught(rest: str, expression_of: Callable[[str], Expression]) -> None:
    text = f"aes_encrypt(s, {KEY}, {rest})"
    assert expression_of(text).sql == f"try_to_binary(hex({text}), 'hex')"


def test_decryption_is_tried(expression_of: Callable[[str], Expression]) -> None:
    assert expression_of(f"aes_decrypt(raw, {KEY})").sql == f"try_aes_decrypt(raw, {KEY})"
