"""``asc serve`` where it cannot start: one line, exit code 1."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

STREAM = '[streams.flights]\ntopic = "flights"\nformat = "json"\nschema = "delay INT"\n'


def said(folder: Path, text: str) -> list[str]:
    """The lines on stderr; asserts that there is no stack trace, and exit code 1."""
    path = folder / "asc.toml"
    path.write_text(text, encoding="utf-8")
    code = f"from cli.main import main\nmain(['serve', '--config', {str(path)!r}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    return done.stderr.splitlines()


def serve(folder: Path, text: str) -> str:
    """The one line that is an error; asserts that there is no other."""
    (line,) = [line for line in said(folder, text) if line.startswith("error: ")]
    return line


def test_no_stream(tmp_path: Path) -> None:
    assert "streams" in serve(tmp_path, "[api]\nport = 0\n")


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        line = serve(tmp_path, f"[api]\nport = {port}\n{STREAM}")
    assert f"127.0.0.1:{port}" in line
    assert "port" in line


def test_a_kafka_that_does_not_answer(tmp_path: Path) -> None:
    line = serve(tmp_path, f'[kafka]\nbootstrap_servers = "127.0.0.1:9"\ntimeout_s = 1\n[api]\nport = 0\n{STREAM}')
    assert "127.0.0.1:9" in line


def test_a_token_that_others_can_read_is_told(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("0123456789abcdef0123456789abcdef", "utf-8")
    token.chmod(0o644)
    kafka = '[kafka]\nbootstrap_servers = "127.0.0.1:9"\ntimeout_s = 1\n'
    lines = said(tmp_path, f'{kafka}[api]\nport = 0\nroot_token_file = "{token}"\n{STREAM}')
    (line,) = [line for line in lines if str(token) in line]
    assert line.endswith(f"file '{token}': every user of this machine can read it: chmod 600")


def test_an_outside_address_without_a_token(tmp_path: Path) -> None:
    assert "token" in serve(tmp_path, f'[api]\nhost = "0.0.0.0"\n{STREAM}')


def test_a_schema_that_is_none(tmp_path: Path) -> None:
    line = serve(tmp_path, STREAM.replace("delay INT", "delay WHATEVER<"))
    assert "streams.flights.schema" in line


def test_a_pattern_that_spark_does_not_read_by(tmp_path: Path) -> None:
    line = serve(tmp_path, f'{STREAM}options = {{ timestampFormat = "yyyy-MM-ddTHH:mm:ss" }}\n')
    assert line.startswith("error: streams.flights.options.timestampFormat 'yyyy-MM-ddTHH:mm:ss': 'T' is no letter")


def test_without_a_configuration_it_says_what_one_is(run: Callable[..., Result]) -> None:
    result = run("serve")
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert result.stderr.startswith("error: give --config FILE, a TOML file with at least [streams.flights], topic = ")
