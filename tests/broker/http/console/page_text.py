"""The text of a page, as one reads it: without its elements."""

from __future__ import annotations

import html
import re


def page_text(page: str) -> str:
    """Return the text of a page.

    >>> page_text('<p>a <b class="c">&lt;d</b></p>')
    'a <d'
    """
    return html.unescape(re.sub("<[^>]*>", "", page))
