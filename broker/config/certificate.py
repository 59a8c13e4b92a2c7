"""The API's certificate and its key, tested by a handshake with an internal client before any other client sees
them.
"""

from __future__ import annotations

import ssl
from contextlib import suppress
from pathlib import Path

from broker.config.text_file import read_text
from broker.errors import ConfigError

_OUT_OF_TIME = (9, 10)
"""OpenSSL's error codes for a certificate that is not valid yet, and for one that has expired."""


def server_context(certificate: Path, key: Path) -> ssl.SSLContext:
    """Return a context of TLS 1.2 or later with a PEM certificate and its key. The certificate's issuers follow it in
    its file.

    Raise ConfigError if a file cannot be read or has the wrong content, or if the key needs a password or does not
    belong to the certificate. Raise ConfigError too if the certificate is not valid today.
    """
    for name, path in (("api.tls_cert_file", certificate), ("api.tls_key_file", key)):
        if "-----BEGIN" not in read_text(name, path):
            raise ConfigError(name, str(path), "is no PEM file: one begins with -----BEGIN")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    _load(context, certificate, key)
    _check_handshake(context, certificate)
    return context


def renew(context: ssl.SSLContext, certificate: Path, key: Path) -> None:
    """Load the certificate from its file again, for connections from now on.

    Raise ConfigError, and change nothing, if the certificate is invalid.
    """
    server_context(certificate, key)
    _load(context, certificate, key)


def _load(context: ssl.SSLContext, certificate: Path, key: Path) -> None:
    def no_password() -> str:
        remedy = "asks for a password: store it without one, readable by the daemon alone"
        raise ConfigError("api.tls_key_file", str(key), remedy)

    try:
        context.load_cert_chain(certificate, key, no_password)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            remedy = f"is not the key of the certificate in {certificate}: name the one that it was made with"
            raise ConfigError("api.tls_key_file", str(key), remedy) from None
        remedy = f"cannot be used with the key in {key}: {error.reason or error}"
        raise ConfigError("api.tls_cert_file", str(certificate), remedy) from None


def _check_handshake(context: ssl.SSLContext, certificate: Path) -> None:
    """Raise ConfigError if a client that trusts only this certificate would refuse it."""
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname = False
    trusting.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        trusting.load_verify_locations(certificate)
        to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
        sides = trusting.wrap_bio(to_client, to_server), context.wrap_bio(to_server, to_client, server_side=True)
        for _ in range(3):
            for side in sides:
                with suppress(ssl.SSLWantReadError):
                    side.do_handshake()
    except ssl.SSLCertVerificationError as error:
        remedy = "renew it" if error.verify_code in _OUT_OF_TIME else "clients would refuse it"
        raise ConfigError("api.tls_cert_file", str(certificate), f"{error.verify_message}: {remedy}") from None
    except ssl.SSLError as error:
        remedy = f"no connection can be made with it: {error.reason or error}"
        raise ConfigError("api.tls_cert_file", str(certificate), remedy) from None
