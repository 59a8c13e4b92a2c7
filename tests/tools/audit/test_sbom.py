"""The SBOM is what CycloneDX's own schema asks for, and holds what was put in."""

from __future__ import annotations

import json

import pytest

from tools.audit.component import Component
from tools.audit.sbom import sbom

SHADED = Component("Maven", "org.x:shaded", "2", "p/jars/a.jar")
JAR = Component("Maven", "org.x:a", "1", "p/jars/a.jar", ("a" * 64,), "EPL-2.0 OR MIT", "POM", parts=(SHADED,))
LIBRARY = Component("", "libx.so", "", "p.libs/libx.so", ("b" * 64,))
PACKAGE = Component(
    "PyPI", "p", "3", "", ("c" * 64, "d" * 64), "MIT", "License", "python_version < '4'", (JAR, LIBRARY)
)


def faults(text: str) -> object:
    # What they import takes longer than the tests.
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    return JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)


@pytest.mark.parametrize("components", [[], [PACKAGE, JAR]])
def test_the_schema_is_kept(components: list[Component]) -> None:
    assert faults(sbom(components)) is None


def test_the_schema_is_asked() -> None:
    content = json.loads(sbom([PACKAGE]))
    content["components"][0]["type"] = "thing"
    assert faults(json.dumps(content)) is not None


def test_what_it_holds() -> None:
    content = json.loads(sbom([PACKAGE]))
    assert content["specVersion"] == "1.6"
    broker = content["metadata"]["component"]
    assert (broker["name"], broker["licenses"]) == ("asc-broker", [{"expression": "Apache-2.0"}])
    (package,) = content["components"]
    assert (package["purl"], package["version"]) == ("pkg:pypi/p@3", "3")
    assert [digest["content"] for digest in package["hashes"]] == ["c" * 64, "d" * 64]
    assert {one["name"]: one["value"] for one in package["properties"]} == {
        "asc:licence-from": "License",
        "asc:marker": "python_version < '4'",
    }
    parts = {part["name"]: part for part in package["components"]}
    assert parts["a"]["purl"] == "pkg:maven/org.x/a@1"
    assert parts["a"]["group"] == "org.x"
    assert parts["a"]["licenses"] == [{"expression": "EPL-2.0 OR MIT"}]
    assert [part["purl"] for part in parts["a"]["components"]] == ["pkg:maven/org.x/shaded@2"]
    assert parts["libx.so"]["type"] == "file"
    assert "purl" not in parts["libx.so"]
    (depends,) = (one["dependsOn"] for one in content["dependencies"] if one["ref"] == "asc-broker")
    assert depends == [package["bom-ref"]]
