"""The certificates that the client trusts when it connects over https."""

from __future__ import annotations

import ssl
from pathlib import Path

from broker.client.errors import InvalidRequestError


def trusted(ca_file: Path | None) -> ssl.SSLContext:
    """Return a TLS context that trusts the certificates of a PEM file. If ``ca_file`` is None, the context trusts the
    certificates of the operating system. Raise InvalidRequestError if the file cannot be used.
    """
    if ca_file is None:
        import truststore

        return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        return ssl.create_default_context(cafile=ca_file)
    except (ssl.SSLError, OSError) as error:
        remedy = f"holds no certificate in PEM form: {getattr(error, 'reason', None) or error}"
        raise InvalidRequestError("CA file", str(ca_file), remedy) from None
