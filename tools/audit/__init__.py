"""The audit of the broker's components: an SBOM, the licences, and the known vulnerabilities of packages and jars."""
