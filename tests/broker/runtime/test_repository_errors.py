"""One line for everything that a network does to a download, and what to do about it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from broker.errors import RuntimeMissingError
from broker.runtime.jars import fetch_jars
from broker.runtime.locked_jars import JarSet, format_lock

if TYPE_CHECKING:
    from conftest import Authority, Mirror

ONE = "one-1.0.jar"


def failure(jar_set: JarSet, cache: Path) -> str:
    """What is said of a set that cannot be fetched: one line, and nothing half is left."""
    with pytest.raises(RuntimeMissingError) as raised:
        fetch_jars(jar_set)
    said = str(raised.value)
    assert "\n" not in said
    assert [path.name for path in (cache / "jars").iterdir()] == [".lock"]
    return said


def test_a_jar_that_is_not_there(mirror: Mirror, small: JarSet, empty_cache: Path) -> None:
    del mirror.files["org/small/one/1.0/one-1.0.jar"]
    said = failure(small, empty_cache)
    assert said.startswith(f"jar '{mirror.url}/maven2/org/small/one/1.0/one-1.0.jar': is answered with 404 Not Found")
    assert "ASC_MAVEN_URL" in said
    assert "asc runtime load" in said
    assert mirror.asked.count(ONE) == 1


def test_other_bytes(mirror: Mirror, small: JarSet, empty_cache: Path) -> None:
    mirror.files["org/small/one/1.0/one-1.0.jar"] = b"x" * small.jars[0].size_bytes
    assert "whose SHA-256 is not the locked" in failure(small, empty_cache)
    assert mirror.asked.count(ONE) == 1


@pytest.mark.parametrize("content", [b"<html>Please log in</html>", b"x" * 1_000_000])
def test_a_page_in_place_of_a_jar(mirror: Mirror, small: JarSet, empty_cache: Path, content: bytes) -> None:
    mirror.files["org/small/one/1.0/one-1.0.jar"] = content
    assert "bytes where 40,000 are locked: something between changes it" in failure(small, empty_cache)


def test_a_connection_that_always_ends_early(mirror: Mirror, small: JarSet, empty_cache: Path) -> None:
    mirror.cut_bytes[ONE] = 1000
    assert "cannot be fetched (peer closed connection" in failure(small, empty_cache)
    assert mirror.asked.count(ONE) > 1


@pytest.mark.parametrize(("status", "said"), [(401, "401 Unauthorized"), (403, "403 Forbidden")])
def test_a_mirror_that_wants_a_password(
    mirror: Mirror, small: JarSet, empty_cache: Path, status: int, said: str
) -> None:
    mirror.statuses[ONE] = [status]
    assert f"{said}: write name and password as https://name:password@host/path" in failure(small, empty_cache)


def test_a_proxy_that_wants_a_password(
    mirror: Mirror, small: JarSet, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror.statuses[ONE] = [407]
    monkeypatch.setenv("HTTP_PROXY", mirror.url)
    monkeypatch.setenv("ASC_MAVEN_URL", "http://repository.invalid/maven2")
    assert "407 Proxy Authentication Required: write name and password" in failure(small, empty_cache)


@pytest.mark.parametrize("status", [407, 502])
def test_a_proxy_that_opens_no_way(
    mirror: Mirror, small: JarSet, empty_cache: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    mirror.status_of_connect = status
    monkeypatch.setenv("HTTPS_PROXY", mirror.url.replace("//", "//me:secret@"))
    monkeypatch.setenv("ASC_MAVEN_URL", "https://repository.invalid/maven2")
    said = failure(small, empty_cache)
    assert said.startswith("the proxy on the way to 'https://repository.invalid/maven2/org/small/")
    assert str(status) in said
    assert ("write name and password" in said) == (status == 407)
    assert "secret" not in said


def test_a_server_that_stays_overloaded(mirror: Mirror, small: JarSet, empty_cache: Path) -> None:
    mirror.statuses[ONE] = [503] * 20
    assert "503 Service Unavailable; try again later" in failure(small, empty_cache)
    assert 1 < mirror.asked.count(ONE) < 20


def test_nobody_there(small: JarSet, empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASC_MAVEN_URL", "http://127.0.0.1:9")
    said = failure(small, empty_cache)
    assert "Connection refused" in said
    assert "HTTPS_PROXY" in said


def test_a_host_that_is_not_known(small: JarSet, empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASC_MAVEN_URL", "http://repository.invalid/maven2")
    assert "is not known here; name your proxy in HTTPS_PROXY" in failure(small, empty_cache)


@pytest.mark.usefixtures("tls_mirror")
def test_a_certificate_that_is_not_trusted(small: JarSet, empty_cache: Path) -> None:
    said = failure(small, empty_cache)
    assert said.startswith("the certificate of 'https://127.0.0.1:")
    assert "SSL_CERT_FILE" in said


@pytest.mark.usefixtures("authority")
def test_a_certificate_of_another_host(
    tls_mirror: Mirror, authority: Authority, small: JarSet, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
    monkeypatch.setenv("ASC_MAVEN_URL", tls_mirror.url.replace("127.0.0.1", "localhost"))
    assert "localhost" in failure(small, empty_cache).partition("is not trusted")[2]


def test_a_full_disk(mirror: Mirror, small: JarSet, tmp_path: Path) -> None:
    """A file system of its own, of 64 KiB, that only the child sees."""
    disk = tmp_path / "disk"
    disk.mkdir()
    code = (
        "import sys\n"
        "from broker.errors import RuntimeMissingError\n"
        "from broker.runtime.jars import fetch_jars\n"
        "from broker.runtime.locked_jars import parse_lock\n"
        "try:\n    fetch_jars(parse_lock(sys.argv[1])[0])\n"
        "except RuntimeMissingError as error:\n    print(error)\n"
    )
    script = f"mount -t tmpfs -o size=64k tmpfs '{disk}' && ASC_CACHE_DIR='{disk}' exec \"$@\""
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    if subprocess.run([*command, f"mount -t tmpfs tmpfs '{disk}'"], check=False, capture_output=True).returncode:
        pytest.skip("no file system may be mounted here")
    run = [*command, script, "sh", sys.executable, "-c", code, format_lock([small])]
    said = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    full = "is full (No space left on device); free space, or name another folder in ASC_CACHE_DIR"
    assert said == f"cache folder '{disk}/jars': {full}\n"
