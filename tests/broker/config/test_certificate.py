"""The API's certificate: tried before it is used, wrong in one line, and renewed where it stands."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from broker.config.certificate import renew, server_context
from broker.errors import ConfigError

Made = tuple[Path, Path]
Certificates = Callable[..., Made]


def test_a_sound_pair_makes_a_context_of_tls_1_2_or_later(certificates: Certificates) -> None:
    context = server_context(*certificates("sound"))
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2


def test_what_is_wrong_is_one_line_that_names_the_file(certificates: Certificates, tmp_path: Path) -> None:
    certificate, key = certificates("first")
    _, other = certificates("second")
    text = tmp_path / "text"
    text.write_text("no certificate")
    damaged = tmp_path / "damaged.pem"
    damaged.write_text(certificate.read_text().replace("M", "N", 5))
    locked = tmp_path / "locked.pem"
    command = ["openssl", "pkey", "-in", str(key), "-aes256", "-passout", "pass:secret", "-out", str(locked)]
    subprocess.run(command, check=True, capture_output=True)
    for files, subject, said in (
        ((tmp_path / "none", key), "api.tls_cert_file", "cannot be read: No such file"),
        ((certificate, tmp_path), "api.tls_key_file", "cannot be read: Is a directory"),
        ((text, key), "api.tls_cert_file", "is no PEM file"),
        ((certificate, text), "api.tls_key_file", "is no PEM file"),
        ((certificate, other), "api.tls_key_file", f"is not the key of the certificate in {certificate}"),
        ((key, key), "api.tls_cert_file", "cannot be used with the key in"),
        ((damaged, key), "api.tls_cert_file", "cannot be used with the key in"),
        ((certificate, locked), "api.tls_key_file", "asks for a password: store it without one"),
        (certificates("over", days=-1), "api.tls_cert_file", "certificate has expired: renew it"),
    ):
        with pytest.raises(ConfigError) as refusal:
            server_context(*files)
        message = str(refusal.value)
        assert refusal.value.subject == subject, message
        assert said in message
        assert "\n" not in message


def test_a_renewed_certificate_is_seen_and_a_wrong_one_is_not(certificates: Certificates, tmp_path: Path) -> None:
    certificate, key = certificates("live")
    context = server_context(certificate, key)

    def shown() -> bytes:
        client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
        to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
        one, two = client.wrap_bio(to_client, to_server), context.wrap_bio(to_server, to_client, server_side=True)
        for side in (one, two, one, two):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
        return one.getpeercert(binary_form=True) or b""

    before = shown()
    for source, target in zip(certificates("next"), (certificate, key), strict=True):
        shutil.copyfile(source, target)
    renew(context, certificate, key)
    after = shown()
    assert after != before
    shutil.copyfile(certificates("third")[1], key)
    with pytest.raises(ConfigError):
        renew(context, certificate, key)
    assert shown() == after
