"""Where the command ``asc`` begins: before anything is imported that takes a while."""

from __future__ import annotations

import sys


def run() -> None:
    """Run the command line; a Ctrl-C while it is imported is one line, as it is later."""
    try:
        from cli.main import main
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
    main()
