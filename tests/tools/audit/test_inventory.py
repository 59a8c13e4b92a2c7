"""Everything that the broker runs on, as it is installed, is known by name, and its licence is allowed."""

from __future__ import annotations

from broker.runtime.locked_jars import locked_sets
from tools.audit.component import Component, everything
from tools.audit.policy import read_policy
from tools.audit.report import refusals


def test_packages_and_jars(components: list[Component]) -> None:
    tops = {component.key: component for component in components}
    for jar_set in locked_sets():
        for jar in jar_set.jars:
            versions = {(one.version, one.sha256) for one in components if one.key == f"Maven/{jar.name}"}
            assert (jar.version, (jar.sha256,)) in versions
    jars = {part.name: part for part in tops["PyPI/pyspark"].parts}
    assert jars["org.apache.spark:spark-core_2.13"].version == tops["PyPI/pyspark"].version
    assert jars["org.apache.spark:spark-core_2.13"].place.startswith("pyspark/jars/")


def test_every_jar_is_known_by_name(components: list[Component]) -> None:
    assert [one.place for one in everything(components) if one.place.endswith(".jar") and not one.ecosystem] == []


def test_every_licence_is_allowed(components: list[Component]) -> None:
    assert refusals(components, read_policy()) == []


def test_every_ruling_is_needed(components: list[Component]) -> None:
    policy = read_policy()
    of_policy = [one for one in everything(components) if one.licence_source == "policy"]
    for rulings, concerned in ((policy.declared, of_policy), (policy.exceptions, list(everything(components)))):
        assert [ruling for ruling in rulings if not any(map(ruling.concerns, concerned))] == []
