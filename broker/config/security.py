"""TLS and SASL: the options of each Kafka client, derived from ``[kafka.options]``, under that client's own names."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from pathlib import Path

from broker.errors import ConfigError

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI")

_PEM_FILES = ("ssl.cafile", "ssl.certfile", "ssl.keyfile", "ssl.crlfile")
_FILES = (*_PEM_FILES, "ssl.truststore.location", "ssl.keystore.location")
_LOGIN = ("sasl.plain.username", "sasl.plain.password")
_LIBRDKAFKA_NAMES = {
    "security.protocol": "security.protocol",
    "sasl.mechanism": "sasl.mechanism",
    "sasl.plain.username": "sasl.username",
    "sasl.plain.password": "sasl.password",
    "sasl.kerberos.service.name": "sasl.kerberos.service.name",
    "ssl.cafile": "ssl.ca.location",
    "ssl.certfile": "ssl.certificate.location",
    "ssl.keyfile": "ssl.key.location",
    "ssl.password": "ssl.key.password",
    "ssl.crlfile": "ssl.crl.location",
    "ssl.ciphers": "ssl.cipher.suites",
}
_LOGIN_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}


def protocol_of(options: Mapping[str, str]) -> str:
    """Return the security protocol, one of PROTOCOLS, if the options set one."""
    return options.get("security.protocol", "PLAINTEXT").upper()


def security_faults(options: Mapping[str, str]) -> Iterator[ConfigError]:
    """Yield the faults of the TLS and SASL options that can be detected without Kafka."""
    protocol, mechanism = protocol_of(options), options.get("sasl.mechanism", "")
    if protocol not in PROTOCOLS:
        yield _fault(options, "security.protocol", f"is one of {', '.join(PROTOCOLS)}")
    if options.get("ssl.check.hostname", "true").lower() not in ("true", "false"):
        yield _fault(options, "ssl.check.hostname", "is true or false")
    for key in _FILES:
        if key in options and (remedy := _unreadable(Path(options[key]))) is not None:
            yield _fault(options, key, remedy)
    if protocol in ("SSL", "SASL_SSL"):
        yield from _certificate_faults(options)
    if protocol in ("SASL_PLAINTEXT", "SASL_SSL"):
        if mechanism not in MECHANISMS:
            yield _fault(options, "sasl.mechanism", f"is one of {', '.join(MECHANISMS)}")
        elif mechanism != "GSSAPI":
            for key in _LOGIN:
                if not options.get(key):
                    yield ConfigError(f"kafka.options '{key}'", None, f"is missing: {mechanism} asks for it")


def python_options(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options with the security protocol in kafka-python's spelling, because kafka-python treats unknown
    spellings as PLAINTEXT.
    """
    return {**options, "security.protocol": protocol_of(options)} if "security.protocol" in options else dict(options)


def java_options(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options with the login module and the trusted certificates that Java's clients need.

    The function derives these options from the other options, unless they are set already.
    """
    follow = {}
    module = _LOGIN_MODULES.get(options.get("sasl.mechanism", ""))
    if module is not None and all(key in options for key in _LOGIN):
        name, password = (options[key].replace("\\", "\\\\").replace('"', '\\"') for key in _LOGIN)
        follow["sasl.jaas.config"] = f'{module} required username="{name}" password="{password}";'
    if "ssl.cafile" in options and not any(key.startswith("ssl.truststore.") for key in options):
        follow = {**follow, "ssl.truststore.type": "PEM", "ssl.truststore.location": options["ssl.cafile"]}
    if options.get("ssl.check.hostname", "true").lower() == "false":
        follow["ssl.endpoint.identification.algorithm"] = ""
    return {**follow, **python_options(options)}


def librdkafka_options(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options as librdkafka names them."""
    named = {
        name: options[key] for key, name in _LIBRDKAFKA_NAMES.items() if key in options and key != "security.protocol"
    }
    if options.get("ssl.check.hostname", "true").lower() == "false":
        named["ssl.endpoint.identification.algorithm"] = "none"
    # Trust the certificates of the system, as the other clients do. By default, librdkafka trusts none.
    return {"ssl.ca.location": "probe", **named, "security.protocol": protocol_of(options).lower()}


def tls_context(options: Mapping[str, str]) -> ssl.SSLContext:
    """Return the TLS context that verifies the server's certificate.

    Raise OSError (SSLError is one) or ValueError if the files are invalid.
    """
    context = ssl.create_default_context(cafile=options.get("ssl.cafile"))
    context.check_hostname = options.get("ssl.check.hostname", "true").lower() != "false"
    if "ssl.certfile" in options:
        context.load_cert_chain(
            options["ssl.certfile"], options.get("ssl.keyfile"), password=options.get("ssl.password", "")
        )
    return context


def _certificate_faults(options: Mapping[str, str]) -> Iterator[ConfigError]:
    if any(key in options and _unreadable(Path(options[key])) is not None for key in _PEM_FILES):
        return
    only_trust = {key: value for key, value in options.items() if key != "ssl.certfile"}
    try:
        tls_context(only_trust)
    except (OSError, ValueError) as error:
        yield _fault(options, "ssl.cafile", f"holds no certificates in PEM ({error})")
        return
    try:
        tls_context(options)
    except (OSError, ValueError) as error:
        remedy = f"is no certificate in PEM with the key that ssl.keyfile has and ssl.password opens ({error})"
        yield _fault(options, "ssl.certfile", remedy)


def _unreadable(path: Path) -> str | None:
    try:
        with path.open("rb"):
            return None
    except OSError as error:
        return f"cannot be read ({error.strerror}): name a file that can"


def _fault(options: Mapping[str, str], key: str, remedy: str) -> ConfigError:
    return ConfigError(f"kafka.options '{key}'", options[key][:200] if key in options else None, remedy)
