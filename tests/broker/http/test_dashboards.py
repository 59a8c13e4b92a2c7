"""The dashboard and the alert rules ask for what a daemon tells, and alerts fire when they should."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

import broker

if TYPE_CHECKING:
    from conftest import Site

DEPLOY = Path(broker.__file__).parents[1] / "deploy"
ALERTS = DEPLOY / "prometheus" / "alerts.yml"
DASHBOARD = DEPLOY / "grafana" / "dashboard.json"

OF_PROMETHEUS = {"job", "instance"}
"""Labels that Prometheus puts to what it scrapes."""

needs_promtool = pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is missing (Debian: prometheus)")

_NAME = re.compile(r"\b((?:asc|process|python)_\w+)(?:\{([^}]*)\})?")
_GROUPED = re.compile(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)")


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load(ALERTS.read_text("utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def dashboard() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(DASHBOARD.read_text("utf-8"))
    return found


def panels() -> Iterator[dict[str, Any]]:
    return (panel for panel in dashboard()["panels"] if panel["type"] != "row")


def shown() -> dict[str, tuple[str, str]]:
    """Expression and legend of everything that the dashboard draws, by panel and place."""
    return {
        f"{panel['title']} {target['refId']}": (target["expr"], target["legendFormat"])
        for panel in panels()
        for target in panel["targets"]
    }


def asked(expression: str) -> dict[str, set[str]]:
    """The labels that an expression asks of each metric in it; what it groups by, it asks of all of them."""
    grouped = {label.strip() for labels in _GROUPED.findall(expression) for label in labels.split(",")}
    return {
        name: {matcher.strip() for matcher in re.findall(r"(\w+)\s*[=!]", matchers)} | grouped
        for name, matchers in _NAME.findall(expression)
    }


@pytest.fixture(scope="module")
def exposed(request: pytest.FixtureRequest) -> dict[str, set[str]]:
    """What a daemon that has delivered something tells: by the name of a sample, its labels."""
    site: Site = request.getfixturevalue("site")
    site.register("some", "n > 0")
    site.register("cast", "CAST(s AS INT) > 1")
    site.publish([b'{"n": 1, "s": "x"}', b"not a record"])
    site.drain()
    text = site.client.get("/metrics").text
    return {
        sample.name: set(sample.labels) for family in text_string_to_metric_families(text) for sample in family.samples
    }


@pytest.mark.kafka
@pytest.mark.spark
def test_what_is_asked_for_is_there(exposed: dict[str, set[str]]) -> None:
    # No order was changed here, and Kafka says how many records there are a while later.
    later = {"asc_rearrangements_total": {"stream", "trigger"}, "asc_lag_records": {"stream"}}
    there = {**later, **exposed}
    expressions = {rule["alert"]: rule["expr"] for rule in rules()} | {
        name: expr for name, (expr, _) in shown().items()
    }
    wrong = {
        (where, name): sorted(labels - there.get(name, set()) - OF_PROMETHEUS) or "no such metric"
        for where, expression in expressions.items()
        for name, labels in asked(expression).items()
        if name not in there or labels - there[name] - OF_PROMETHEUS
    }
    assert wrong == {}
    assert len(expressions) > 40
    # What the legends name, and what the choices of the dashboard are made of.
    for where, (expression, legend) in shown().items():
        names = set(re.findall(r"\{\{(\w+)\}\}", legend)) - OF_PROMETHEUS
        assert all(names <= there[name] for name in asked(expression) if name != "asc_ready"), where
    for choice in dashboard()["templating"]["list"][1:]:
        metric, label = re.fullmatch(r"label_values\((\w+)(?:\{.*\})?, (\w+)\)", choice["definition"]).groups()  # type: ignore[union-attr]
        assert label in there[metric] | OF_PROMETHEUS


def test_what_is_asked_is_read_from_an_expression() -> None:
    expression = 'sum by (stream, le) (rate(asc_a_bucket{stream=~"$stream",x!="y"}[5m])) / on (job) asc_b'
    assert asked(expression) == {"asc_a_bucket": {"stream", "x", "le", "job"}, "asc_b": {"stream", "le", "job"}}


def test_panels_have_names_of_their_own_and_say_what_they_show() -> None:
    ids = [panel["id"] for panel in dashboard()["panels"]]
    assert len(set(ids)) == len(ids)
    assert all(panel["title"] and panel["description"] and panel["targets"] for panel in panels())
    places = [(panel["gridPos"]["y"], panel["gridPos"]["x"]) for panel in dashboard()["panels"]]
    assert places == sorted(set(places))


def test_what_grafana_and_prometheus_are_given_can_be_read() -> None:
    for path in sorted((DEPLOY / "grafana" / "provisioning").rglob("*.yml")):
        assert yaml.safe_load(path.read_text("utf-8"))["apiVersion"] == 1
    assert all({"summary", "description"} == set(rule["annotations"]) for rule in rules())
    assert len({rule["alert"] for rule in rules()}) == len(rules())


@needs_promtool
def test_expressions_are_what_prometheus_takes(tmp_path: Path) -> None:
    plain = [expression.replace("$__rate_interval", "5m") for expression, _ in shown().values()]
    recorded = [{"record": f"drawn:{number}", "expr": expression} for number, expression in enumerate(plain)]
    drawn = tmp_path / "drawn.yml"
    drawn.write_text(yaml.safe_dump({"groups": [{"name": "drawn", "rules": recorded}]}), "utf-8")
    for path in (ALERTS, drawn):
        checked = subprocess.run(["promtool", "check", "rules", path], capture_output=True, check=False, timeout=60)
        assert checked.returncode == 0, checked.stderr.decode()


@needs_promtool
def test_alerts_fire_when_they_should_and_else_not() -> None:
    cases = ALERTS.with_name("alerts_test.yml")
    named = cases.read_text("utf-8")
    assert all(rule["alert"] in named for rule in rules())
    checked = subprocess.run(["promtool", "test", "rules", cases], capture_output=True, check=False, timeout=60)
    assert checked.returncode == 0, checked.stdout.decode() + checked.stderr.decode()
