"""What the broker is made of: an SBOM, the licences, and the known vulnerabilities of packages and jars."""
