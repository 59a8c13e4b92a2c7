"""A Maven repository on this machine, real HTTP, as good and as bad as a network has them; and an empty cache."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from broker.runtime.jars import fetch_jars
from broker.runtime.locked_jars import Jar, JarSet, locked_sets

_OF_NETWORKS = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "ASC_MAVEN_URL")


@dataclass
class Mirror:
    """A repository, or an HTTP proxy that knows every repository; how it fails is said by file name."""

    url: str = ""
    files: dict[str, Path | bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)
    statuses: dict[str, list[int]] = field(default_factory=dict)
    """Answered first, one after the other."""
    status_of_connect: int = 502
    cut_bytes: dict[str, int] = field(default_factory=dict)
    """Announced whole, and ended after so many."""
    shortened: dict[str, list[int]] = field(default_factory=dict)
    """Answered first, one after the other: so many bytes, announced as all there are."""
    broken: dict[str, int] = field(default_factory=dict)
    """So many times the connection ends in the middle, with bytes that are none of TLS."""
    held: dict[str, threading.Event] = field(default_factory=dict)
    """Half is sent, and the other when the event is set."""
    unanswered: dict[str, threading.Event] = field(default_factory=dict)
    """Nothing is sent before the event is set."""
    reached: threading.Event = field(default_factory=threading.Event)
    """One is being held, or not answered."""
    clients: set[tuple[str, int]] = field(default_factory=set)
    """The addresses of the connections."""

    def content(self, path: str) -> bytes | None:
        found = next((file for name, file in self.files.items() if path.endswith(f"/{name}")), None)
        return found.read_bytes() if isinstance(found, Path) else found


def _handler(mirror: Mirror) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            name = path.rpartition("/")[2]
            mirror.asked.append(name)
            mirror.clients.add(self.client_address)
            mirror.authorizations.append(self.headers["Authorization"])
            if name in mirror.unanswered:
                mirror.reached.set()
                mirror.unanswered[name].wait()
            statuses = mirror.statuses.get(name, [])
            content = mirror.content(path)
            status = statuses.pop(0) if statuses else 200 if content is not None else 404
            if status != 200 or content is None:
                self.send_error(status)
                return
            lengths = mirror.shortened.get(name, [])
            content = content[: lengths.pop(0)] if lengths else content
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            half = mirror.cut_bytes.get(name, len(content) // 2)
            self.wfile.write(content[:half])
            if mirror.broken.get(name, 0) > 0:
                mirror.broken[name] -= 1
                # The descriptor itself: what is sent here, TLS does not know of.
                with socket.socket(fileno=os.dup(self.connection.fileno())) as plain:
                    plain.sendall(b"x" * 1000)
                self.close_connection = True
                return
            if name in mirror.held:
                mirror.reached.set()
                mirror.held[name].wait()
            if name in mirror.cut_bytes:
                self.close_connection = True
            else:
                self.wfile.write(content[half:])

        def do_CONNECT(self) -> None:
            self.send_error(mirror.status_of_connect)

        def log_message(self, *arguments: object) -> None:
            """Nothing: the tests look at what was asked."""

    return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *arguments: object) -> None:
        """Nothing: clients break off and refuse certificates here, as they should."""


def _served(mirror: Mirror, context: ssl.SSLContext | None = None) -> Iterator[Mirror]:
    with _Server(("127.0.0.1", 0), _handler(mirror)) as server:
        if context is not None:
            # The handshake is done by the thread of a connection: one that breaks off must not hold up the others.
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        mirror.url = f"{'https' if context else 'http'}://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield mirror
        for event in (*mirror.held.values(), *mirror.unanswered.values()):
            event.set()
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def plain_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the network that the tests happen to run in, so that a test says all of its own."""
    for name in _OF_NETWORKS:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def empty_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("ASC_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def contents() -> Mapping[str, bytes]:
    """Three small jars by path: what is in them does not matter to whoever carries them."""
    draw = random.Random(7)
    return {f"org/small/{name}/1.0/{name}-1.0.jar": draw.randbytes(40_000) for name in ("one", "three", "two")}


@pytest.fixture(scope="session")
def small(contents: Mapping[str, bytes]) -> JarSet:
    """A set of three small jars."""
    jars = [
        Jar(f"org.small:{path.split('/')[2]}", "1.0", hashlib.sha256(content).hexdigest(), len(content), path)
        for path, content in contents.items()
    ]
    return JarSet("small", "org.small:one", "1.0", tuple(jars))


@pytest.fixture
def mirror(contents: Mapping[str, bytes], monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    """The repository of the small jars, at the address that ASC_MAVEN_URL names."""
    for served in _served(Mirror(files=dict(contents))):
        monkeypatch.setenv("ASC_MAVEN_URL", f"{served.url}/maven2/")
        yield served


@pytest.fixture(scope="session")
def locked_files() -> Mapping[str, Path]:
    """Every locked jar by its path in a repository, from the cache of whoever runs the tests."""
    return {
        jar.path: file for jar_set in locked_sets() for jar, file in zip(jar_set.jars, fetch_jars(jar_set), strict=True)
    }


@dataclass(frozen=True)
class Authority:
    """A certificate authority that no system knows, and the certificate of this machine by it."""

    certificate: Path
    context: ssl.SSLContext


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not on this machine")
    folder = tmp_path_factory.mktemp("authority")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"]
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    for arguments in (
        ["req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=asc test authority"],
        ["req", *key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=127.0.0.1"],
        ["x509", "-req", "-in", "server.csr", *signed, "-days", "2", "-extfile", "names", "-out", "server.pem"],
    ):
        subprocess.run(
            ["openssl", *arguments], cwd=folder, env={"PATH": os.environ["PATH"]}, check=True, capture_output=True
        )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem", folder / "server.key")
    return Authority(folder / "ca.pem", context)


@pytest.fixture
def tls_mirror(
    contents: Mapping[str, bytes], authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Mirror]:
    """The repository of the small jars behind a certificate that no system knows."""
    for served in _served(Mirror(files=dict(contents)), authority.context):
        monkeypatch.setenv("ASC_MAVEN_URL", f"{served.url}/maven2")
        yield served
