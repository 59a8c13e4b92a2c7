"""Which certificates a client trusts; over a real handshake in tests/cli/test_client.py."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
import trustme

from broker.client.errors import InvalidRequestError
from broker.client.tls import trusted


def test_the_certificates_of_a_file_are_trusted(tmp_path: Path) -> None:
    path = tmp_path / "ca.pem"
    authority = trustme.CA()
    authority.cert_pem.write_to_path(path)
    (found,) = trusted(path).get_ca_certs(binary_form=True)
    assert found == ssl.PEM_cert_to_DER_cert(authority.cert_pem.bytes().decode())


def test_a_file_without_certificates_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "ca.pem"
    path.write_text("nothing")
    for one in (path, tmp_path / "none.pem"):
        with pytest.raises(InvalidRequestError, match="holds no certificate in PEM form"):
            trusted(one)
