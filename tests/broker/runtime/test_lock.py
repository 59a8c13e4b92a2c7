"""Making the lock anew, as developers do: with Ivy, over the repository that is configured."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from broker.errors import RuntimeMissingError
from broker.runtime.lock import Wanted, resolve, wanted_sets
from broker.runtime.locked_jars import Jar, locked_sets

if TYPE_CHECKING:
    from conftest import Mirror

_POM = """<project><modelVersion>4.0.0</modelVersion><groupId>org.{name}</groupId><artifactId>{name}</artifactId>
<version>1.0</version><dependencies>{dependencies}</dependencies></project>"""
_DEPENDENCY = (
    "<dependency><groupId>org.{name}</groupId><artifactId>{name}</artifactId><version>1.0</version></dependency>"
)


def _publish(mirror: Mirror, name: str, *needs: str) -> None:
    pom = _POM.format(name=name, dependencies="".join(_DEPENDENCY.format(name=need) for need in needs))
    folder = f"org/{name}/{name}/1.0/{name}-1.0"
    for suffix, content in (("pom", pom.encode()), ("jar", f"the jar of {name}".encode())):
        mirror.files[f"{folder}.{suffix}"] = content
        mirror.files[f"{folder}.{suffix}.sha1"] = hashlib.sha1(content).hexdigest().encode()


def test_what_is_wanted_is_what_is_locked() -> None:
    wanted = [(entry.set_name, entry.name, entry.version) for entry in wanted_sets()]
    assert wanted == [(jar_set.name, jar_set.artifact, jar_set.version) for jar_set in locked_sets()]


@pytest.mark.slow
def test_a_set_is_what_an_artifact_needs_without_what_is_provided(mirror: Mirror) -> None:
    _publish(mirror, "top", "middle", "shipped")
    _publish(mirror, "middle", "bottom")
    for name in ("bottom", "shipped", "logging"):
        _publish(mirror, name)
    found = resolve(
        Wanted("set", "org.top:top", "1.0", provided=("org.shipped",), beside=(("org.logging:logging", "1.0"),))
    )
    assert [jar.name for jar in found.jars] == [
        "org.bottom:bottom",
        "org.logging:logging",
        "org.middle:middle",
        "org.top:top",
    ]
    content = b"the jar of top"
    path = "org/top/top/1.0/top-1.0.jar"
    assert found.jars[-1] == Jar("org.top:top", "1.0", hashlib.sha256(content).hexdigest(), len(content), path)


@pytest.mark.nightly
@pytest.mark.slow
def test_what_is_nowhere_is_named(mirror: Mirror) -> None:
    _publish(mirror, "top", "missing")
    with pytest.raises(RuntimeMissingError, match=r"^the jars of 'org\.top:top:1\.0': cannot be resolved \(.*missing"):
        resolve(Wanted("set", "org.top:top", "1.0"))
