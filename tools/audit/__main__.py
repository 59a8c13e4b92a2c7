"""``python -m tools.audit``: the SBOM, the licences, and the known vulnerabilities of the broker's dependencies.

Exit codes: 0 if no finding forbids a release; 1 if a finding does, or if the audit fails; 2 for wrong usage. The exit
code is 3 if only the vulnerability data is missing, so that no vulnerability is known.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

from asc.errors import AscError
from tools.audit.component import Component, everything
from tools.audit.errors import NoDataError
from tools.audit.inventory import inventory
from tools.audit.osv import API, Found, ask, look_up
from tools.audit.policy import POLICY_FILE, Policy, read_policy
from tools.audit.report import findings, licence_lines, refusals, unknown_parts
from tools.audit.sbom import sbom

_REFUSED, _UNKNOWN = 1, 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the SBOM, print the findings, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.audit", description="What the broker runs on, and what of it is known."
    )
    parser.add_argument("--out", type=Path, default=Path("dist"), help="folder of the SBOM (default: dist)")
    parser.add_argument(
        "--policy", type=Path, default=POLICY_FILE, help="what is allowed and judged (default: tools/audit/policy.toml)"
    )
    parser.add_argument(
        "--osv", type=Path, metavar="FOLDER", help="records of OSV that were downloaded, in place of asking"
    )
    parser.add_argument("--api", default=API, help=f"where OSV is asked (default: {API})")
    parser.add_argument(
        "--timeout", type=float, default=20.0, metavar="SECONDS", help="for each answer of OSV (default: 20)"
    )
    options = parser.parse_args(arguments)
    try:
        policy = read_policy(options.policy)
        components = [policy.declare(component) for component in inventory(policy.groups)]
        options.out.mkdir(parents=True, exist_ok=True)
        path = options.out / "sbom.cdx.json"
        path.write_text(sbom(components), encoding="utf-8")
    except (AscError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return _REFUSED
    print(f"{path}: {len(components)} packages and jars, {sum(1 for _ in everything(components))} with what is in them")
    if options.osv:
        return report(components, policy, lambda: look_up(everything(components), options.osv))
    return report(components, policy, lambda: ask(everything(components), options.timeout, options.api))


def report(components: Sequence[Component], policy: Policy, known: Callable[[], Found]) -> int:
    """Print the components' licences and known vulnerabilities on stdout, and the findings that forbid a release on
    stderr. Return the exit code: 0, 1 or 3, as in the module's docstring.

    ``known`` returns the known vulnerabilities of the components, and raises NoDataError if no data is available.
    """
    refused = _licences(components, policy)
    try:
        found = known()
    except NoDataError as error:
        print("vulnerabilities: not known, whether there are any or not")
        print(f"error: {error}", file=sys.stderr)
        return _REFUSED if refused else _UNKNOWN
    listed = findings(components, found, policy, date.today())
    against = [finding for finding in listed if finding.why is None]
    print(f"vulnerabilities: {len(listed)} known, {len(listed) - len(against)} of them judged")
    for finding in listed:
        if finding.why is not None:
            print(f"  {finding}")
    if parts := unknown_parts(components):
        print(f"vulnerabilities: OSV has nothing of {', '.join(part.name for part in parts)}")
    for finding in against:
        print(f"error: {finding}", file=sys.stderr)
    return _REFUSED if refused or against else 0


def _licences(components: Sequence[Component], policy: Policy) -> bool:
    """Print the number of components by licence, and a line for each component whose licence the policy refuses. Return
    True if a licence is refused.
    """
    refused = refusals(components, policy)
    print(f"licences: {len(refused)} refused")
    for line in licence_lines(components):
        print(f"  {line}")
    for line in refused:
        print(f"error: {line}", file=sys.stderr)
    return bool(refused)


if __name__ == "__main__":
    sys.exit(main())
