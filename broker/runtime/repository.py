"""Client of the Maven repository for jars: its address, and downloads over HTTP that are verified on arrival."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import ssl
import threading
import zipfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import TracebackType

import httpx
import truststore

from broker.errors import RuntimeMissingError
from broker.runtime.connections import Connections
from broker.runtime.locked_jars import Jar
from broker.runtime.repository_errors import WrongBytesError, is_transient, missing_error

VARIABLE = "ASC_MAVEN_URL"
_ATTEMPTS = 4
_BACKOFF_S = 0.4
_TIMEOUT = httpx.Timeout(20.0, connect=15.0)
_IVY_PROPERTIES = "org/apache/ivy/core/settings/repository.properties"


class Repository:
    """A client of the repository for any number of threads, within a ``with`` block.

    It uses the proxies of the environment (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY). It trusts the certificates
    that the system trusts; SSL_CERT_FILE and SSL_CERT_DIR take precedence. ``str()`` of the client is the address
    without the password.

    Raise RuntimeMissingError if the address, a proxy or a file of certificates is invalid.
    """

    def __init__(self) -> None:
        named = repository_url()
        # The password is not in the address, because httpx logs the addresses of requests.
        auth = httpx.BasicAuth(named.username, named.password) if named.userinfo else None
        self.url = named.copy_with(userinfo=b"")
        self._stop = threading.Event()
        self._connections = Connections()
        context = _system_certificates()
        # A compressed answer would have another length than the lock file states.
        headers = {"Accept-Encoding": "identity"}
        try:
            self.client = httpx.Client(
                auth=auth, verify=context, timeout=_TIMEOUT, follow_redirects=True, headers=headers
            )
        except (ValueError, ImportError, httpx.InvalidURL) as error:
            # The texts of these errors repeat the proxy's address, and its password.
            remedy = "the proxy named there cannot be used; write it as http://host:port"
            raise RuntimeMissingError("the environment's", "HTTP_PROXY, HTTPS_PROXY, ALL_PROXY", remedy) from error

    def __str__(self) -> str:
        return shown(self.url)

    def __enter__(self) -> Repository:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.client.close()

    def address(self, path: str) -> httpx.URL:
        """Return the address of a path below the repository's root."""
        return self.url.copy_with(path=f"{self.url.path.rstrip('/')}/{path}")

    def fetch(self, jar: Jar, folder: Path, advanced: Callable[[int], None]) -> None:
        """Download a jar into a folder under its file name. ``advanced`` receives the number of new bytes, negative on
        a restart.

        Retry after errors that may be transient. Raise RuntimeMissingError if that fails, OSError if the folder cannot
        be written.
        """
        url = self.address(jar.path)
        for attempt in count(1):
            try:
                self._attempt(url, jar, folder / jar.file_name, advanced)
                return
            except (httpx.HTTPError, WrongBytesError) as error:
                last = attempt == _ATTEMPTS or not is_transient(error)
                if last or self._stop.wait(_BACKOFF_S * 2 ** (attempt - 1)):
                    raise missing_error(error, shown(url)) from error

    def abort(self) -> None:
        """End the downloads of all threads at once, even if a server does not answer or stops sending.

        A thread that has not connected yet ends at its connection timeout, and does not retry.
        """
        self._stop.set()
        self._connections.end()

    def _attempt(self, url: httpx.URL, jar: Jar, target: Path, advanced: Callable[[int], None]) -> None:
        digest = hashlib.sha256()
        received = 0
        try:
            with (
                self._connections.traced() as trace,
                self.client.stream("GET", url, extensions={"trace": trace}) as response,
                target.open("wb") as file,
            ):
                response.raise_for_status()
                for chunk in response.iter_bytes():
                    received += len(chunk)
                    advanced(len(chunk))
                    if self._stop.is_set() or received > jar.size_bytes:
                        break
                    digest.update(chunk)
                    file.write(chunk)
            if received != jar.size_bytes or digest.hexdigest() != jar.sha256:
                raise WrongBytesError(jar, received)
        except BaseException:
            advanced(-received)
            raise


def repository_url() -> httpx.URL:
    """Return ``ASC_MAVEN_URL``, or else the address of Maven's central repository in the Ivy of the installed PySpark.

    Raise RuntimeMissingError if the variable is not an http(s) address, or has a query or a fragment. Raise it too if
    neither source exists.
    """
    chosen = os.environ.get(VARIABLE)
    if not chosen:
        return _address_of_ivy()
    try:
        url = httpx.URL(chosen)
    except httpx.InvalidURL:
        url = httpx.URL()
    if url.scheme not in ("http", "https") or not url.host:
        remedy = "is no address of a Maven repository; write it as https://host/path"
        raise RuntimeMissingError(VARIABLE, _masked(chosen), remedy)
    if "?" in chosen or "#" in chosen:
        # Every request would have the query, and httpx writes the addresses of requests into the log.
        remedy = "has a query or a fragment; write it as https://host/path, or https://name:password@host/path"
        raise RuntimeMissingError(VARIABLE, _masked(chosen), remedy)
    return url


def _masked(address: str) -> str:
    """Return the printable part of an address: a password may precede the last @, and a token may follow the first ?.

    >>> _masked("ftp://me:secret@mirror/maven"), _masked("//mirror/maven?token=a"), _masked("me?secret@mirror")
    ('ftp://mirror/maven', '//mirror/maven', '...')
    """
    plain, *more = re.split(r"[?#]", address)
    if "@" in "".join(more):
        return "..."
    return re.sub(r"^([^/]*//)?.*@", r"\1", plain)


def shown(url: httpx.URL) -> str:
    """Return an address for printing, without name and password.

    >>> shown(httpx.URL("https://me:secret@mirror.example:8443/maven"))
    'https://mirror.example:8443/maven'
    """
    return str(url.copy_with(userinfo=b""))


def ivy_jar() -> Path:
    """Return the path of the Ivy that the installed PySpark ships. Raise RuntimeMissingError if there is none."""
    spec = importlib.util.find_spec("pyspark")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    found = [jar for folder in folders for jar in sorted(Path(folder, "jars").glob("ivy-*.jar"))]
    if not found:
        place = folders[0] if folders else "not installed"
        remedy = f"it holds no Ivy, which names the repository; reinstall pyspark from its package, or set {VARIABLE}"
        raise RuntimeMissingError("pyspark in", str(place), remedy)
    return found[-1]


def _address_of_ivy() -> httpx.URL:
    jar = ivy_jar()
    with zipfile.ZipFile(jar) as archive:
        properties = archive.read(_IVY_PROPERTIES).decode("latin-1")
    found = re.search(r"^\s*ivy\.ibiblio\.default\.artifact\.root\s*=\s*(\S+)", properties, re.MULTILINE)
    if not found:
        raise RuntimeMissingError("Ivy", str(jar), f"it names no repository; name one in {VARIABLE}")
    return httpx.URL(found[1])


def _system_certificates() -> ssl.SSLContext:
    for name, is_usable in (("SSL_CERT_FILE", Path.is_file), ("SSL_CERT_DIR", Path.is_dir)):
        value = os.environ.get(name)
        places = [value] if name == "SSL_CERT_FILE" else (value or "").split(os.pathsep)
        # OpenSSL ignores a missing file or folder, and the later error about certificates would be misleading.
        if value and not any(is_usable(Path(place)) for place in places if place):
            remedy = "is not there; name a file (SSL_CERT_DIR: a folder) of PEM certificates, or unset the variable"
            raise RuntimeMissingError(name, value, remedy)
    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
