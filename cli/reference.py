"""``python -m cli.reference``: docs/cli.md, made from the commands themselves, and the table of docs/predicates.md."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

HEAD = """# Command line

Made from the commands by `python -m cli.reference`; every page is also `asc COMMAND --help`.
"""
WIDTH = 110
TABLE_BEGINS, TABLE_ENDS = "<!-- functions -->", "<!-- /functions -->"


def reference() -> str:
    """The help of every command, as Markdown."""
    from cli.main import main

    return "\n".join([HEAD, *_pages(main, "asc", None)])


def _pages(command: click.Command, name: str, parent: click.Context | None) -> Iterator[str]:
    settings = {**command.context_settings, "terminal_width": WIDTH, "max_content_width": WIDTH}
    context = click.Context(command, info_name=name, parent=parent, **settings)
    yield f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            inner = command.get_command(context, child)
            if inner is not None:
                yield from _pages(inner, child, context)


def with_functions(page: str) -> str:
    """A page with the table of the functions between its two marks."""
    from asc.predicate.builtins import markdown

    before, _, rest = page.partition(TABLE_BEGINS)
    _, _, after = rest.partition(TABLE_ENDS)
    return f"{before}{TABLE_BEGINS}\n{markdown()}\n{TABLE_ENDS}{after}"


if __name__ == "__main__":
    docs = Path(__file__).parent.parent / "docs"
    (docs / "cli.md").write_text(reference(), encoding="utf-8")
    predicates = docs / "predicates.md"
    predicates.write_text(with_functions(predicates.read_text(encoding="utf-8")), encoding="utf-8")
    # Nothing on stdout, which could be sent into the very page.
    click.echo("docs/cli.md and the table of docs/predicates.md written", err=True)
