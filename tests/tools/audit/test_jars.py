"""What real jars of pyspark say of themselves, and what is told of jars that say nothing."""

from __future__ import annotations

import hashlib
import re
import zipfile
from pathlib import Path

import pyspark
import pytest

from tools.audit.component import Component
from tools.audit.errors import AuditError
from tools.audit.jars import Coordinates, read_jar
from tools.audit.policy import read_policy

JARS = Path(pyspark.__file__).parent / "jars"
EPL_OR_GPL = "EPL-2.0 OR GPL-2.0-only WITH Classpath-exception-2.0"


def pyspark_jar(pattern: str) -> Component:
    (path,) = JARS.glob(pattern)
    return read_jar(path, "here", read_policy().groups)


@pytest.fixture
def jar(tmp_path: Path) -> Path:
    path = tmp_path / "some-thing-1.2.jar"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\r\n")
    return path


def put(jar: Path, name: str, text: str) -> None:
    with zipfile.ZipFile(jar, "a") as file:
        file.writestr(name, text)


@pytest.mark.parametrize(
    ("pattern", "name", "licence", "licence_source"),
    [
        ("snakeyaml-2*.jar", "org.yaml:snakeyaml", "Apache-2.0", "POM"),
        ("jackson-core-2*.jar", "com.fasterxml.jackson.core:jackson-core", "Apache-2.0", "POM"),
        ("xz-*.jar", "org.tukaani:xz", "0BSD", "manifest"),
        ("scala-library-*.jar", "org.scala-lang:scala-library", "Apache-2.0", "LICENSE"),
        ("hive-exec-*-core.jar", "org.apache.hive:hive-exec", "Apache-2.0", "META-INF/LICENSE"),
        ("lz4-java-*.jar", "org.lz4:lz4-java", None, ""),
        ("jakarta.servlet-api-*.jar", "jakarta.servlet:jakarta.servlet-api", EPL_OR_GPL, "POM"),
    ],
)
def test_real_jars(pattern: str, name: str, licence: str | None, licence_source: str) -> None:
    component = pyspark_jar(pattern)
    assert (component.name, component.licence, component.licence_source) == (name, licence, licence_source)
    assert component.ecosystem == "Maven"
    assert re.fullmatch(r"\d[\w.-]*", component.version)
    assert [len(digest) for digest in component.sha256] == [64]


def test_a_shaded_jar_has_parts() -> None:
    component = pyspark_jar("hadoop-client-runtime-*.jar")
    assert component.name == "org.apache.hadoop:hadoop-client-runtime"
    names = {part.name for part in component.parts}
    assert {"org.eclipse.jetty:jetty-client", "org.apache.avro:avro"} <= names
    assert all(part.version and part.place == "here" and not part.parts for part in component.parts)


def test_a_jar_that_nothing_names_is_not_looked_up(jar: Path) -> None:
    component = read_jar(jar, "here", {})
    assert (component.ecosystem, component.name, component.licence) == ("", "some-thing-1.2", None)
    assert component.sha256 == (hashlib.sha256(jar.read_bytes()).hexdigest(),)


def test_the_group_of_a_jar_that_has_none(jar: Path) -> None:
    assert read_jar(jar, "", {"some-*": "org.some"}).name == "org.some:some-thing"
    known = Coordinates("g", "a", "7")
    component = read_jar(jar, "", {"some-*": "org.some"}, known)
    assert (component.name, component.version) == ("g:a", "7")


def test_a_manifest_goes_on_after_a_break(tmp_path: Path) -> None:
    path = tmp_path / "a-1.jar"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(
            "META-INF/MANIFEST.MF", "Implementation-Vendor-Id: org.ve\r\n ndor\r\nBundle-License: M\r\n IT\r\n"
        )
    component = read_jar(path, "", {})
    assert (component.name, component.licence) == ("org.vendor:a", "MIT")


def test_the_pom_of_the_longest_fitting_artifact(jar: Path) -> None:
    for artifact in ("some", "some-thing", "other"):
        folder = f"META-INF/maven/g/{artifact}"
        version = "thing-1.2" if artifact == "some" else "1.2"
        put(jar, f"{folder}/pom.properties", f"groupId=g\nartifactId={artifact}\nversion={version}\n")
        pom = "<project><licenses><license><name>MIT</name></license></licenses></project>"
        put(jar, f"{folder}/pom.xml", pom)
    component = read_jar(jar, "", {})
    assert (component.name, component.licence) == ("g:some-thing", "MIT")
    assert [(part.name, part.licence) for part in component.parts] == [("g:other", "MIT"), ("g:some", "MIT")]


def test_a_licence_that_is_not_known_is_none(jar: Path) -> None:
    put(jar, "META-INF/LICENSE", "Pay me.")
    assert read_jar(jar, "", {}).licence is None


def test_what_is_no_jar(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match=r"jar .*gone\.jar.* cannot be read"):
        read_jar(tmp_path / "gone.jar", "", {})
    (tmp_path / "text.jar").write_text("text")
    with pytest.raises(AuditError, match="not a zip file"):
        read_jar(tmp_path / "text.jar", "", {})
