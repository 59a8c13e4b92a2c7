"""What is in ``deploy/``, held against the broker: versions, files, commands, configurations and ports."""

from __future__ import annotations

import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import broker
from broker.access.secret import digest
from broker.config.config import Config, load_config
from broker.config.sections import ApiConfig
from broker.packages import PACKAGES
from cli.main import main
from tools.release.version import version_of

ROOT = Path(broker.__file__).parents[1]
DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
KUBERNETES = list(yaml.safe_load_all((DEPLOY / "kubernetes" / "asc.yaml").read_text("utf-8")))
DOCKERFILE = (DEPLOY / "Dockerfile").read_text("utf-8")
UNIT = (DEPLOY / "systemd" / "asc.service").read_text("utf-8")
PORT = ApiConfig().port


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("deploy") / "secrets"
    subprocess.run([DEPLOY / "make-secrets.sh", folder], check=True)
    return folder


def of_kind(kind: str) -> dict[str, Any]:
    (found,) = [document for document in KUBERNETES if document["kind"] == kind]
    return dict(found)


def container() -> dict[str, Any]:
    (only,) = of_kind("Deployment")["spec"]["template"]["spec"]["containers"]
    return dict(only)


def loaded(text: str, mounted: str, secrets: Path, folder: Path) -> Config:
    """A configuration of a container, its tokens where they are here."""
    path = folder / "asc.toml"
    path.write_text(text.replace(mounted, str(secrets)), encoding="utf-8")
    return load_config(path)


@pytest.mark.parametrize("place", ["compose", "kubernetes"])
def test_configurations_are_right_and_tokens_are_those_that_are_made(place: str, secrets: Path, tmp_path: Path) -> None:
    if place == "compose":
        config = loaded((DEPLOY / "asc.toml").read_text("utf-8"), "/run/secrets", secrets, tmp_path)
    else:
        config = loaded(of_kind("ConfigMap")["data"]["asc.toml"], "/run/secrets/asc", secrets, tmp_path)
    config.check()
    assert config.api.port == PORT
    assert config.token() == (secrets / "asc_token").read_text("utf-8")
    named = config.named_tokens(config.token())
    assert named is not None
    scope = named[digest((secrets / "prometheus_token").read_text("utf-8"))]
    assert (scope.name, scope.read_only) == ("prometheus", True)


def test_secrets_are_made_once_in_a_folder_of_the_users_own(secrets: Path) -> None:
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o700
    again = subprocess.run([DEPLOY / "make-secrets.sh", secrets], capture_output=True, text=True, check=False)
    assert (again.returncode, "is there already" in again.stderr) == (1, True)
    made = {path.name for path in secrets.iterdir()}
    assert {Path(secret["file"]).name for secret in COMPOSE["secrets"].values()} == made
    assert "/deploy/secrets/\n" in (ROOT / ".gitignore").read_text("utf-8")


def test_what_compose_mounts_is_there() -> None:
    mounts = [volume for service in COMPOSE["services"].values() for volume in service.get("volumes", ())]
    sources = {mount.partition(":")[0] for mount in mounts}
    assert {source for source in sources if "/" not in source} == set(COMPOSE["volumes"])
    missing = [source for source in sources if source.startswith(".") and not (DEPLOY / source).exists()]
    assert missing == []
    for service in COMPOSE["services"].values():
        assert set(service.get("secrets", ())) <= set(COMPOSE["secrets"])


COMMANDS = [
    COMPOSE["services"]["broker"]["command"],
    container()["args"],
    re.findall(r'"([^"]+)"', DOCKERFILE.split("\nCMD ")[1].splitlines()[0]),
    re.search(r"^ExecStart=/opt/asc/bin/(.*)$", UNIT, re.MULTILINE)[1].split(),  # type: ignore[index]
]


@pytest.mark.parametrize("command", COMMANDS, ids=["compose", "kubernetes", "image", "systemd"])
def test_commands_are_those_of_asc(command: list[str], tmp_path: Path) -> None:
    program, name, *arguments = command
    assert program == "asc"
    config = tmp_path / "asc.toml"
    config.touch()
    given = [str(config) if argument == "/etc/asc/asc.toml" else argument for argument in arguments]
    subcommand = main.commands[name]
    with subcommand.make_context(name, given) as context:
        assert context.params["config_file"] == config


def test_the_health_of_the_image_is_asked_where_the_api_answers() -> None:
    assert f"http://127.0.0.1:{PORT}/healthz" in DOCKERFILE
    assert f"EXPOSE {PORT}\n" in DOCKERFILE
    assert COMPOSE["services"]["broker"]["ports"] == [f"127.0.0.1:{PORT}:{PORT}"]


def test_probes_ask_what_the_api_has() -> None:
    assert container()["ports"] == [{"name": "api", "containerPort": PORT}]
    probes = {name: container()[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")}
    assert {name: probe["path"] for name, probe in probes.items()} == {
        "startup": "/healthz",
        "liveness": "/healthz",
        "readiness": "/readyz",
    }
    assert all(probe["port"] == "api" for probe in probes.values())
    deployment = of_kind("Deployment")["spec"]
    assert (deployment["replicas"], deployment["strategy"]) == (1, {"type": "Recreate"})
    mounted = {mount["name"] for mount in container()["volumeMounts"]}
    assert mounted == {volume["name"] for volume in deployment["template"]["spec"]["volumes"]}


def test_versions_are_one() -> None:
    tag = f"asc-broker:{version_of(ROOT)}"
    assert COMPOSE["services"]["broker"]["image"] == container()["image"] == tag
    assert f"--tag {tag} " in DOCKERFILE
    locked = (ROOT / "broker" / "runtime" / "jars.lock").read_text("utf-8")
    kafka = COMPOSE["services"]["kafka"]["image"].removeprefix("apache/kafka:")
    assert f"/kafka-server-{kafka}.jar" in locked


def test_the_image_copies_what_a_wheel_is_made_of() -> None:
    stage = DOCKERFILE.split("FROM ")[1]
    copied = {source for line in re.findall(r"^COPY (.*) \S+$", stage, re.MULTILINE) for source in line.split()}
    assert copied >= {*PACKAGES, "pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"}
    let_through = set(re.findall(r"^!(\S+)$", (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8"), re.MULTILINE))
    assert let_through == copied | {"requirements.lock"}
    assert all((ROOT / source).exists() for source in let_through)


def test_prometheus_asks_the_broker_with_its_own_token() -> None:
    prometheus = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text("utf-8"))
    (scrape,) = prometheus["scrape_configs"]
    assert scrape["static_configs"] == [{"targets": [f"broker:{PORT}"]}]
    assert scrape["authorization"]["credentials_file"] == "/run/secrets/prometheus_token"
    assert COMPOSE["services"]["prometheus"]["secrets"] == ["prometheus_token"]
    assert all((DEPLOY / "prometheus" / rules).is_file() for rules in prometheus["rule_files"])


def test_a_daemon_that_is_gone_is_known_by_the_job_that_scrapes_it() -> None:
    groups = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text("utf-8"))["groups"]
    (expression,) = [rule["expr"] for group in groups for rule in group["rules"] if rule["alert"] == "AscDaemonGone"]
    job = re.fullmatch(r'up\{job=~"(.+)"\} == 0', expression)[1]  # type: ignore[index]
    (deployed,) = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text("utf-8"))["scrape_configs"]
    shown = re.findall(r"job_name: (\S+)", (ROOT / "docs" / "metrics.md").read_text("utf-8"))
    assert [re.fullmatch(job, name) is not None for name in (deployed["job_name"], *shown)] == [True, True]


def test_alerts_name_commands_that_have_what_they_say() -> None:
    rules = (DEPLOY / "prometheus" / "alerts.yml").read_text("utf-8")
    assert "asc query show has how many" in rules
    named = set(re.findall(r"\basc ((?:query|dead-letter) \w+|status|trace)\b", rules))
    assert {"query show", "dead-letter list", "status"} <= named
    for name in named:
        command: Any = main
        for part in name.split():
            command = command.commands[part]


def checked(*command: object) -> str:
    run = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout + run.stderr


def test_compose_and_kubernetes_hold_to_their_schemas() -> None:
    validator = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    checked(*validator, DEPLOY / "compose.yaml")
    output = checked(
        Path(sys.executable).with_name("kubernetes-validate"), "--strict", DEPLOY / "kubernetes" / "asc.yaml"
    )
    assert output.count(" passed ") == len(KUBERNETES)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    # It looks whether the command is there.
    unit = tmp_path / "asc.service"
    unit.write_text(UNIT.replace("/opt/asc/bin/asc", "/bin/true"), encoding="utf-8")
    assert checked("systemd-analyze", "verify", unit) == ""
