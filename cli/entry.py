"""Entry point of the command ``asc``, which runs before any slow import."""

from __future__ import annotations

import sys


def run() -> None:
    """Run the command line. If Ctrl-C interrupts the imports, print one line and exit with 130, as after a Ctrl-C
    during a command.
    """
    try:
        from cli.main import main
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
    main()
