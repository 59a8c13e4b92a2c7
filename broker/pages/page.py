"""A self-contained page: one file without network access, scripts or other files, light or dark like the reader's
system.
"""

from __future__ import annotations

from markupsafe import Markup

from broker.pages.markup import element, joined

STYLE = """
.asc{--ink:#1b1f24;--soft:#4d5660;--line:#c6ccd3;--ground:#fff;--band:#f3f5f7;--bar:#a9c4e4;--strong:#1f5fa8;
--good:#17693a;--bad:#a3232b;--mark:#b34700;color:var(--ink);background:var(--ground);
font:15px/1.45 system-ui,sans-serif}
@media (prefers-color-scheme:dark){.asc{--ink:#e8ebee;--soft:#b1bac3;--line:#474f58;--ground:#15181c;--band:#1f242a;
--bar:#2f4c6e;--strong:#7db4f0;--good:#6fd396;--bad:#ff9a9a;--mark:#ffa657}}
.asc h1{font-size:1.5em;margin:.2em 0}.asc h2{font-size:1.2em;margin:1.6em 0 .4em}
.asc h3{font-size:1em;margin:1em 0 .3em}
.asc p{margin:.3em 0}.asc .soft{color:var(--soft)}.asc .good{color:var(--good);font-weight:600}
.asc .bad{color:var(--bad);font-weight:600}
.asc code,.asc pre{font:13px/1.45 ui-monospace,monospace;white-space:pre-wrap}
.asc .cut{display:inline-block;max-width:100%;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;
vertical-align:bottom}
.asc pre{background:var(--band);border:1px solid var(--line);border-radius:4px;padding:.6em;margin:.3em 0;
max-height:24em;overflow:auto}
.asc .wide{overflow-x:auto}.asc table{border-collapse:collapse;width:100%;margin:.4em 0;table-layout:fixed}
.asc caption{text-align:left;color:var(--soft);padding:.2em 0}
.asc th,.asc td{text-align:left;vertical-align:top;padding:.35em .7em .35em 0;border-bottom:1px solid var(--line)}
.asc th{font-weight:600}.asc th[scope=row]{width:13em}
.asc td.number,.asc th.number{text-align:right;font-variant-numeric:tabular-nums;width:7em}
.asc ul{margin:.3em 0;padding-left:1.2em}.asc svg{display:block;max-width:100%}
.asc svg text{fill:var(--ink);font:12px ui-monospace,monospace}.asc svg .soft{fill:var(--soft)}
.asc svg .small{font-size:9px}
.asc .region{fill:var(--bar);stroke:var(--ground);stroke-width:1}.asc .null{fill:var(--band);stroke:var(--line)}
.asc .marked{fill:var(--mark)}.asc svg .on-mark{fill:var(--ground)}
.asc .ground{fill:var(--band)}.asc .before{fill:var(--bar)}.asc .after{fill:var(--strong)}
.asc .node{fill:var(--band);stroke:var(--line)}.asc .macro{stroke:var(--soft);stroke-width:1.5;fill:none}
.asc .micro{stroke:var(--mark);fill:none}.asc .tip{fill:var(--soft)}
@media (max-width:60rem){.asc table,.asc caption,.asc tbody,.asc tr,.asc th,.asc td{display:flow-root;width:auto}
.asc thead{display:none}.asc tr{padding:.4em 0;border-bottom:1px solid var(--line)}
.asc th[scope=row],.asc td.number{width:auto;text-align:left}.asc th,.asc td{padding:.1em 0;border:0;min-height:1.5em}
.asc td[data-label]{padding-left:8em}
.asc td[data-label]::before{content:attr(data-label);float:left;margin-left:-8em;width:7.5em;color:var(--soft)}}
""".strip()
"""The style sheet, also for fragments: all rules apply within an element of class ``asc``."""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""The content security policy of a page: the browser loads and runs nothing."""


def page(title: str, *body: object) -> Markup:
    """Return a whole page with the given fragments as its body."""
    head = element(
        "head",
        None,
        element("meta", {"charset": "utf-8"}),
        element("meta", {"http-equiv": "Content-Security-Policy", "content": _POLICY}),
        element("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        element("meta", {"name": "color-scheme", "content": "light dark"}),
        element("title", None, title),
        element(
            "style", None, Markup(f"body{{margin:0}}main{{max-width:76em;margin:auto;padding:1em 1.2em}}\n{STYLE}")
        ),
    )
    shown = element("body", {"class": "asc"}, element("main", None, *body))
    return joined(Markup("<!doctype html>\n"), element("html", {"lang": "en"}, head, shown), "\n")
