"""The software bill of materials: CycloneDX 1.6 in JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.metadata import metadata

from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model import component as cyclonedx
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL

from tools.audit.component import FILE, MAVEN, PYPI, Component

_DISTRIBUTION = "asc-broker"


def sbom(components: Sequence[Component]) -> str:
    """Return the bill of materials as JSON: the broker and its components, each with the parts that are packed into it.

    A component has the SHA-256 of every archive that the lock permits. Three properties replace fields that CycloneDX
    lacks. ``asc:place``: the path to a part. ``asc:marker``: the Pythons and systems for which a version is locked.
    ``asc:licence-from``: the source of the licence.
    """
    about = metadata(_DISTRIBUTION)
    broker = cyclonedx.Component(
        name=_DISTRIBUTION,
        type=cyclonedx.ComponentType.APPLICATION,
        version=about["Version"],
        bom_ref="asc-broker",
        description=about["Summary"],
        licenses=[LicenseExpression(about["License-Expression"])],
        purl=PackageURL("pypi", name=_DISTRIBUTION, version=about["Version"]),
    )
    made = [_component(component, "asc-broker") for component in components]
    bom = Bom(metadata=BomMetaData(component=broker), components=made)
    bom.register_dependency(broker, made)
    outputter = make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6)
    return outputter.output_as_string(indent=1) + "\n"


def _component(component: Component, within: str) -> cyclonedx.Component:
    group, _, artifact = component.name.rpartition(":")
    # The same jar may occur at several paths. Include the path, so that each occurrence has a different reference.
    reference = "|".join(text for text in (within, component.key, component.version, component.place) if text)
    return cyclonedx.Component(
        name=artifact,
        group=group or None,
        version=component.version or None,
        type=_type(component),
        bom_ref=reference,
        purl=_purl(component, group, artifact),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest) for digest in component.sha256],
        licenses=[LicenseExpression(component.licence)] if component.licence else [],
        properties=list(_properties(component)),
        components=[_component(part, reference) for part in component.parts],
    )


def _type(component: Component) -> cyclonedx.ComponentType:
    if component.ecosystem == FILE and not component.version:
        return cyclonedx.ComponentType.FILE
    return cyclonedx.ComponentType.LIBRARY


def _purl(component: Component, group: str, artifact: str) -> PackageURL | None:
    if component.ecosystem == MAVEN:
        return PackageURL("maven", group, artifact, component.version)
    if component.ecosystem == PYPI:
        return PackageURL("pypi", name=component.name, version=component.version)
    return PackageURL("generic", name=artifact, version=component.version) if component.version else None


def _properties(component: Component) -> Iterable[Property]:
    properties = {"place": component.place, "marker": component.marker, "licence-from": component.licence_source}
    return (Property(name=f"asc:{name}", value=value) for name, value in properties.items() if value)
