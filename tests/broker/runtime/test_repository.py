"""The way to the repository: its address, passwords, proxies, certificates, and trying again."""

from __future__ import annotations

import base64
import ssl
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from broker.errors import RuntimeMissingError
from broker.runtime.jars import fetch_jars
from broker.runtime.locked_jars import JarSet
from broker.runtime.repository import Repository, ivy_jar, repository_url
from broker.runtime.repository_errors import is_transient

if TYPE_CHECKING:
    from conftest import Authority, Mirror

ONE = "one-1.0.jar"


def test_without_a_mirror_it_is_the_repository_of_ivy() -> None:
    assert ivy_jar().name.startswith("ivy-")
    url = repository_url()
    assert url.scheme == "https"
    assert "maven" in url.host


@pytest.mark.parametrize(
    "address",
    [
        "mirror/maven",
        "mirror/maven?token=secret",
        "ftp://me:secret@mirror/maven",
        "https://me:secret@:x/maven",
        "https://me:se?secret@mirror/maven",
    ],
)
def test_an_address_that_is_none_is_told_without_its_password(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASC_MAVEN_URL", address)
    with pytest.raises(RuntimeMissingError, match=r"ASC_MAVEN_URL .* write it as https://host/path") as raised:
        repository_url()
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("rest", ["?token=secret", "#secret", "/maven?token=a@secret", "/maven/?secret#secret", "?"])
def test_an_address_with_a_query_is_refused_and_not_printed(rest: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASC_MAVEN_URL", f"https://me:secret@mirror{rest}")
    with pytest.raises(RuntimeMissingError, match=r"ASC_MAVEN_URL .* has a query or a fragment; write it as") as raised:
        Repository()
    assert "secret" not in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.usefixtures("empty_cache")
def test_name_and_password_are_sent_and_never_said(
    mirror: Mirror, small: JarSet, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("ASC_MAVEN_URL", mirror.url.replace("//", "//me:se%40cret@") + "/maven2")
    said: list[str] = []
    with caplog.at_level("DEBUG"):
        fetch_jars(small, said.append)
    assert "one-1.0.jar" in caplog.text
    assert "cret" not in caplog.text
    assert set(mirror.authorizations) == {"Basic " + base64.b64encode(b"me:se@cret").decode()}
    assert f"{mirror.url}/maven2" in said[0]
    assert not any("cret" in line for line in said)


@pytest.mark.usefixtures("empty_cache")
def test_what_may_be_better_in_a_moment_is_tried_again(mirror: Mirror, small: JarSet) -> None:
    mirror.statuses[ONE] = [503, 429]
    assert len(fetch_jars(small)) == 3
    assert mirror.asked.count(ONE) == 3


@pytest.mark.usefixtures("empty_cache")
def test_a_jar_that_was_cut_short_is_fetched_again(mirror: Mirror, small: JarSet) -> None:
    mirror.shortened[ONE] = [0, 20_000]
    assert len(fetch_jars(small)) == 3
    assert mirror.asked.count(ONE) == 3


@pytest.mark.usefixtures("empty_cache")
def test_a_connection_whose_tls_breaks_in_mid_jar_is_made_again(
    tls_mirror: Mirror, authority: Authority, small: JarSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
    tls_mirror.broken[ONE] = 2
    assert len(fetch_jars(small)) == 3
    assert tls_mirror.asked.count(ONE) == 3


@pytest.mark.parametrize("kind", [httpx.ReadError, httpx.WriteError, httpx.ConnectError])
def test_a_tls_connection_that_is_dropped_may_do_better(kind: type[httpx.TransportError]) -> None:
    error = kind("dropped")
    error.__cause__ = ssl.SSLEOFError(ssl.SSLErrorNumber.SSL_ERROR_EOF, "EOF occurred in violation of protocol")
    assert is_transient(error)


@pytest.mark.usefixtures("empty_cache")
def test_a_handshake_that_is_refused_is_not_tried_again(
    mirror: Mirror, small: JarSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a server that takes the first bytes of TLS for HTTP, and answers so."""
    monkeypatch.setenv("ASC_MAVEN_URL", mirror.url.replace("http://", "https://"))
    connections: list[object] = []
    with Repository() as repository:
        repository.client.event_hooks = {"request": [connections.append]}
        with pytest.raises(RuntimeMissingError, match="cannot be fetched"):
            repository.fetch(small.jars[0], Path(), lambda by_bytes: None)
    assert len(connections) == 1


@pytest.mark.usefixtures("empty_cache")
def test_a_proxy_of_the_environment_is_taken(mirror: Mirror, small: JarSet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", mirror.url)
    monkeypatch.setenv("ASC_MAVEN_URL", "http://repository.invalid/maven2")
    assert len(fetch_jars(small)) == 3
    assert sorted(mirror.asked) == sorted(jar.file_name for jar in small.jars)


@pytest.mark.usefixtures("empty_cache")
def test_a_host_may_be_left_out_of_the_proxy(mirror: Mirror, small: JarSet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    assert len(fetch_jars(small)) == 3
    assert len(mirror.asked) == 3


@pytest.mark.parametrize("proxy", ["nonsense://me:secret@proxy", "http://me:secret@proxy:port"])
def test_a_proxy_that_is_none_is_told_without_its_password(
    mirror: Mirror, proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    with pytest.raises(RuntimeMissingError, match=r"HTTPS_PROXY") as raised:
        Repository()
    assert "secret" not in str(raised.value)


@pytest.mark.usefixtures("empty_cache", "tls_mirror")
def test_a_certificate_is_trusted_by_the_file_of_the_environment(
    authority: Authority, small: JarSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
    assert len(fetch_jars(small)) == 3


@pytest.mark.parametrize("name", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
def test_certificates_that_are_not_there_are_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, str(tmp_path / "nowhere"))
    with pytest.raises(RuntimeMissingError, match=f"{name} .*nowhere': is not there"):
        Repository()
