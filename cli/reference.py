"""``python -m cli.reference``: generates docs/cli.md from the commands, docs/operate/limits.md, and tables of
docs/reference/functions.md, docs/metrics.md and docs/configuration.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from cli.bounds import bound_groups, limits_page, operator_keys_table

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


def with_operator_keys(page: str) -> str:
    """Return a page with the table of the keys that bound operators inserted between the two marks of the table."""
    return _between(page, "operators", operator_keys_table(bound_groups(BOUNDS)))


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
    tables = {
        "reference/functions.md": with_functions,
        "metrics.md": with_metrics,
        "configuration.md": with_operator_keys,
    }
    for name, with_table in tables.items():
        page = docs / name
        page.write_text(with_table(page.read_text(encoding="utf-8")), encoding="utf-8")
    # Print to stderr, because stdout may be redirected to one of the pages.
    pages = ", ".join(f"docs/{name}" for name in tables)
    click.echo(f"docs/cli.md, docs/operate/limits.md, and tables of {pages} written", err=True)
