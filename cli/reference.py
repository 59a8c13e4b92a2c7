"""``python -m cli.reference``: generates docs/cli.md from the commands, docs/operate/limits.md, and the tables of
docs/reference/functions.md and docs/metrics.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from cli.bounds import bound_groups, limits_page

HEAD = """# Command line

Made from the commands by `python -m cli.reference`; every page is also `asc COMMAND --help`.
"""
WIDTH = 110
BOUNDS = Path(__file__).parent.parent / "docs" / "operate" / "limits.toml"


def reference() -> str:
    """Return the help of every command, as Markdown."""
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
    """Return a page with the table of the functions inserted between the two marks of the table."""
    from asc.predicate.catalogue.builtins import markdown

    return _between(page, "functions", markdown())


def with_metrics(page: str) -> str:
    """Return a page with the table of the metrics inserted between the two marks of the table."""
    from broker.http.metrics import metric_forms

    rows = (
        f"| `{form.name}` | {form.kind} | {', '.join(f'`{label}`' for label in form.labels)} | {form.text} |"
        for form in metric_forms()
    )
    return _between(page, "metrics", "\n".join(["| metric | kind | labels | meaning |", "|---|---|---|---|", *rows]))


def limits() -> str:
    """Return the page of the bounds of all inputs."""
    return limits_page(bound_groups(BOUNDS))


def _between(page: str, mark: str, text: str) -> str:
    begins, ends = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    before, _, rest = page.partition(begins)
    _, _, after = rest.partition(ends)
    return f"{before}{begins}\n{text}\n{ends}{after}"


if __name__ == "__main__":
    docs = Path(__file__).parent.parent / "docs"
    (docs / "cli.md").write_text(reference(), encoding="utf-8")
    (docs / "operate" / "limits.md").write_text(limits(), encoding="utf-8")
    for name, with_table in (("reference/functions.md", with_functions), ("metrics.md", with_metrics)):
        page = docs / name
        page.write_text(with_table(page.read_text(encoding="utf-8")), encoding="utf-8")
    # Nothing on stdout, which could be sent into the very page.
    tables = "tables of docs/reference/functions.md and docs/metrics.md"
    click.echo(f"docs/cli.md, docs/operate/limits.md, {tables} written", err=True)
