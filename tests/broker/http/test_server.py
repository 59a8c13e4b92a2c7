"""The API as it is served: over TLS, by tokens that are read again, to clients that keep up."""

from __future__ import annotations

import json
import logging
import shutil
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from broker.access.secret import digest, new_secret
from broker.config.config import Config, parse_config
from broker.daemon.daemon import Daemon
from broker.errors import BrokerError
from broker.http.server import ApiServer

Started = Callable[..., tuple[ApiServer, str]]


def config_of(folder: Path, **api: Any) -> Config:
    return parse_config(
        {
            "api": {"port": 0, **{name: str(one) if isinstance(one, Path) else one for name, one in api.items()}},
            "spark": {"checkpoint_dir": str(folder / "checkpoint")},
            "streams": {"s": {"topic": "s", "format": "json", "schema": "n INT"}},
        }
    )


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Started]:
    """Serves the API of a daemon that has not started, by settings of [api]."""
    monkeypatch.delenv("ASC_TOKEN", raising=False)
    servers: list[ApiServer] = []

    def start(**api: Any) -> tuple[ApiServer, str]:
        config = config_of(tmp_path, **api)
        servers.append(ApiServer(config, Daemon(config)))
        return servers[-1], servers[-1].start()

    yield start
    for server in servers:
        server.stop()


def test_without_a_certificate_it_is_plain(started: Started) -> None:
    server, url = started()
    assert url.startswith("http://127.0.0.1:")
    assert httpx.get(f"{url}/healthz").json() == {"status": "ok"}
    server.stop()
    # On a loaded machine the thread of the server ends after the time that stopping waits for it.
    deadline = time.monotonic() + 60
    while _answers(url):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _answers(url: str) -> bool:
    try:
        httpx.get(f"{url}/healthz")
    except httpx.ConnectError:
        return False
    return True


def test_with_a_certificate_it_speaks_tls_alone(
    started: Started, certificates: Callable[..., tuple[Path, Path]], tmp_path: Path
) -> None:
    certificate, key = (shutil.copy(path, tmp_path) for path in certificates("served"))
    server, url = started(tls_cert_file=Path(certificate), tls_key_file=Path(key))
    assert url.startswith("https://127.0.0.1:")
    trusting = ssl.create_default_context(cafile=certificate)
    with httpx.Client(verify=trusting) as client:
        assert client.get(f"{url}/healthz").json() == {"status": "ok"}
        assert client.get(f"{url}/v1/streams").status_code == 503
    with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        httpx.get(f"{url}/healthz")
    with pytest.raises(httpx.TransportError):
        httpx.get(f"http{url.removeprefix('https')}/healthz")
    # A renewed one is shown to those who come from now on.
    for renewed, place in zip(certificates("renewed"), (certificate, key), strict=True):
        shutil.copyfile(renewed, place)
    server.reload()
    with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        httpx.get(f"{url}/healthz", verify=trusting)
    assert httpx.get(f"{url}/healthz", verify=ssl.create_default_context(cafile=certificate)).status_code == 200


def test_a_tokens_file_is_read_again_and_a_broken_one_changes_nothing(
    started: Started, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "asc")
    first, second = new_secret(), new_secret()
    path = tmp_path / "tokens.toml"
    path.write_text(f'[tokens.first]\nsha256 = "{digest(first)}"\n')
    server, url = started(tokens_file=path)

    def statuses() -> list[int]:
        tokens = [{"Authorization": f"Bearer {token}"} for token in (first, second)]
        return [httpx.get(f"{url}/v1/queries", headers=header).status_code for header in tokens]

    assert statuses() == [503, 401]
    assert httpx.get(f"{url}/v1/queries").status_code == 401
    path.write_text("[tokens.first]\n")
    server.reload()
    assert caplog.messages[-1].endswith(
        "token 'first': sha256: is missing: 'asc token new NAME' prints it; the tokens stay as before"
    )
    assert statuses() == [503, 401]
    path.write_text(f'[tokens.second]\nsha256 = "{digest(second)}"\nread_only = true\n')
    server.reload()
    assert statuses() == [401, 503]
    assert "tokens file read again: 1 tokens" in caplog.messages
    assert not any(secret in caplog.text for secret in (first, second, digest(first), digest(second)))


def test_a_token_is_taken_back_where_the_file_of_the_one_token_is_gone(started: Started, tmp_path: Path) -> None:
    """Such a file is often there for the start alone; and what it holds by now is not what holds."""
    one, first = new_secret(), new_secret()
    token_file, tokens_file = tmp_path / "token", tmp_path / "tokens.toml"
    token_file.write_text(one)
    tokens_file.write_text(f'[tokens.first]\nsha256 = "{digest(first)}"\n')
    server, url = started(root_token_file=token_file, tokens_file=tokens_file)

    def status(token: str) -> int:
        return httpx.get(f"{url}/v1/queries", headers={"Authorization": f"Bearer {token}"}).status_code

    assert status(first) == 503
    token_file.unlink()
    tokens_file.write_text(f'[tokens.other]\nsha256 = "{digest(new_secret())}"\n')
    server.reload()
    assert (status(first), status(one)) == (401, 503)
    # The one token would go on to do everything, whatever the file says of it.
    token_file.write_text(new_secret())
    tokens_file.write_text(f'[tokens.first]\nsha256 = "{digest(first)}"\n[tokens.one]\nsha256 = "{digest(one)}"\n')
    server.reload()
    assert status(first) == 401


def test_tokens_and_certificate_are_read_again_each_by_itself(
    started: Started, tmp_path: Path, certificates: Callable[..., tuple[Path, Path]], caplog: pytest.LogCaptureFixture
) -> None:
    certificate, key = (shutil.copy(path, tmp_path) for path in certificates("kept"))
    secret, path = new_secret(), tmp_path / "tokens.toml"
    path.write_text(f'[tokens.ops]\nsha256 = "{digest(secret)}"\n')
    server, url = started(tokens_file=path, tls_cert_file=Path(certificate), tls_key_file=Path(key))
    trusting = ssl.create_default_context(cafile=certificate)

    def status() -> int:
        headers = {"Authorization": f"Bearer {secret}"}
        return httpx.get(f"{url}/v1/queries", headers=headers, verify=trusting).status_code

    Path(key).write_text("none")
    path.write_text("[tokens.ops]\n")
    server.reload()
    assert [line.rpartition("; ")[2] for line in caplog.messages[-2:]] == [
        "the tokens stay as before",
        "it stays as before",
    ]
    assert status() == 503
    path.write_text(f'[tokens.other]\nsha256 = "{digest(new_secret())}"\n')
    server.reload()
    assert status() == 401


def test_what_is_wrong_is_told_at_the_start(
    started: Started, tmp_path: Path, certificates: Callable[..., tuple[Path, Path]]
) -> None:
    certificate, key = certificates("one")
    empty = tmp_path / "empty.toml"
    empty.touch()
    for api, said in (
        ({"tokens_file": tmp_path / "none"}, "tokens file '.*none': cannot be read"),
        ({"tokens_file": empty}, "holds tables"),
        ({"tls_cert_file": certificate}, "api.tls_cert_file '.*': goes with api.tls_key_file: set both"),
        ({"tls_key_file": key}, "api.tls_key_file '.*': goes with api.tls_cert_file: set both"),
        ({"tls_cert_file": certificate, "tls_key_file": tmp_path / "no"}, "api.tls_key_file '.*': cannot be read"),
        ({"audit_file": tmp_path}, "api.audit_file '.*': cannot be written"),
        ({"host": "0.0.0.0"}, "api.host 0.0.0.0|api.host '0.0.0.0': reachable from outside: set api.root_token_file"),
        ({"host": "no.such.host.invalid", "tokens_file": None}, "api.host"),
    ):
        with pytest.raises(BrokerError, match=said):
            started(**{name: one for name, one in api.items() if one is not None})
    _, url = started()
    with pytest.raises(BrokerError, match="cannot be bound"):
        started(port=int(url.rpartition(":")[2]))


def test_who_asks_too_often_is_told_how_long_to_wait(started: Started) -> None:
    # So few that no slowness of the machine lets another one pass.
    _, url = started(requests_per_s=0.001)
    answers = [httpx.get(f"{url}/healthz") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 429, 429]
    assert 1 <= int(answers[1].headers["Retry-After"]) <= 1_000
    message = answers[1].json()["error"]["message"]
    assert message.startswith("requests from '127.0.0.1': are more than 0.001 a second: wait ")


def test_one_who_guesses_tokens_is_slowed_down_and_others_are_not(started: Started, tmp_path: Path) -> None:
    secret = new_secret()
    path = tmp_path / "tokens.toml"
    path.write_text(f'[tokens.ops]\nsha256 = "{digest(secret)}"\n')
    _, url = started(requests_per_s=1, tokens_file=path)

    def asked(token: str) -> int:
        return httpx.get(f"{url}/v1/queries", headers={"Authorization": f"Bearer {token}"}).status_code

    guesses = [asked(f"guess-{number}") for number in range(12)]
    assert guesses[:4] == [401] * 4
    assert 429 in guesses
    assert asked(secret) == 503
    own = [asked(secret) for _ in range(10)]
    assert 429 in own
    answer = httpx.get(f"{url}/v1/queries", headers={"Authorization": f"Bearer {secret}"})
    assert secret not in json.dumps(answer.json())


def test_health_is_told_while_every_thread_is_busy(tmp_path: Path) -> None:
    """Who asks for that may end a daemon that does not answer."""
    go_on, entered = threading.Event(), threading.Semaphore(0)

    class Busy:
        def readiness(self) -> str | None:
            return None

        def streams(self) -> dict[str, Any]:
            entered.release()
            go_on.wait()
            return {}

        def bootstrap_servers(self) -> str:
            return "kafka:9092"

        def security_protocol(self) -> str:
            return "PLAINTEXT"

    service: Any = Busy()
    server = ApiServer(config_of(tmp_path), service)
    url = server.start()
    try:
        with ThreadPoolExecutor(60) as callers:
            asked = [callers.submit(httpx.get, f"{url}/v1/streams", timeout=90) for _ in range(60)]
            try:
                # So many of one caller are worked on together; the others wait for one of these.
                for _ in range(16):
                    assert entered.acquire(timeout=120)
                assert not any(one.done() for one in asked)
                for path in ("/healthz", "/readyz"):
                    assert httpx.get(f"{url}{path}", timeout=20).status_code == 200
            finally:
                go_on.set()
            assert {one.result().status_code for one in asked} == {200}
    finally:
        server.stop()
