"""Bearer tokens: long, drawn at random, and kept as a hash."""

from __future__ import annotations

import hashlib

import pytest

from broker.access.secret import MARK, check_secret, digest, new_secret
from broker.errors import ConfigError


def test_a_new_token_is_long_unlike_others_and_fits_into_a_header() -> None:
    made = {new_secret() for _ in range(100)}
    assert len(made) == 100
    for secret in made:
        check_secret(secret)
        assert secret.startswith(MARK)
        assert len(secret) >= len(MARK) + 43
        assert secret.isascii()
        assert secret.isprintable()
        assert " " not in secret


@pytest.mark.parametrize("secret", ["", "short", "x" * 31, "x" * 64, "ab" * 40])
def test_a_token_that_could_be_found_by_trying_is_refused_and_not_shown(secret: str) -> None:
    with pytest.raises(ConfigError, match="can be found by trying: 32 characters or more") as refusal:
        check_secret(secret)
    assert not secret or secret not in str(refusal.value)


def test_of_a_token_its_sha_256_is_kept() -> None:
    assert digest("abc") == hashlib.sha256(b"abc").hexdigest()
    assert digest("é\udcff") != digest("é")
