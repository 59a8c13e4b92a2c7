"""Faults of the layout of a page in a browser: widths, broken words, texts that are cut without a title."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

WIDTHS = (360, 390, 480, 600, 768, 960, 961, 1024, 1280, 1400, 1920, 2560)

_PENDING = "() => !/Reading (its|the)|Trying it on/.test(document.body.innerText)"

_FAULTS = r"""() => {
  const faults = [];
  const told = (element) => element.outerHTML.slice(0, 160).replace(/\s+/g, ' ');
  const isShown = (element) => element.checkVisibility({visibilityProperty: true})
    && !element.closest('.hidden, .skip') && (!element.closest('svg') || element.matches('svg'));
  const scrolls = (style) => ['auto', 'scroll'].includes(style.overflowX);
  const isCut = (style) => style.overflowX === 'hidden' && style.textOverflow === 'ellipsis';
  const squeezed = (text) => text.replace(/\s+/g, ' ').trim().replace(/\.\.\.$/, '');
  const root = document.scrollingElement;
  if (root.scrollWidth > innerWidth) faults.push(`the page has ${root.scrollWidth} pixels of ${innerWidth}`);

  for (const element of document.body.querySelectorAll('*')) {
    if (!isShown(element)) continue;
    const style = getComputedStyle(element), box = element.getBoundingClientRect();
    if (element.matches('svg') && box.width < 1) faults.push(`a picture without a width: ${told(element)}`);
    let around = element.parentElement, hides = false;
    for (let each = around; each; each = each.parentElement) {
      const own = getComputedStyle(each);
      hides = hides || scrolls(own) || isCut(own);
    }
    while (getComputedStyle(around).display === 'inline') around = around.parentElement;
    const outer = around.getBoundingClientRect();
    if (!hides && (box.right > outer.right + 1 || box.left < outer.left - 1)) {
      faults.push(`wider than its container: ${Math.round(box.width)} of ${Math.round(outer.width)}: ${told(element)}`);
    }
    const overflows = style.display !== 'inline' && element.scrollWidth > element.clientWidth + 1;
    if (!overflows || hides || element.matches('svg, input, select, textarea')) continue;
    if (isCut(style)) {
      if (!squeezed(element.title).startsWith(squeezed(element.textContent))) {
        faults.push(`cut without its whole text as a title: ${told(element)}`);
      }
    } else if (!(scrolls(style) && element.matches('pre, .scroll') && element.tabIndex >= 0)) {
      faults.push(`its content is wider: ${element.scrollWidth} of ${element.clientWidth}: ${told(element)}`);
    }
  }

  for (const text of document.querySelectorAll('.chart text')) {
    const size = parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a;
    const box = text.getBoundingClientRect(), outer = text.ownerSVGElement.getBoundingClientRect();
    if (size < 9) faults.push(`a text of a chart is ${size.toFixed(1)} pixels high: ${told(text)}`);
    if (box.left < outer.left - 1 || box.right > outer.right + 1) faults.push(`beyond its chart: ${told(text)}`);
  }

  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!parent || parent.closest('svg, script, textarea, option') || !isShown(parent)) continue;
    // A predicate may be broken behind a sign, prose behind a hyphen.
    const form = parent.closest('pre, p, caption, dt, label') ? /[\p{L}\p{N}_]+/gu : /\S+/g;
    for (const word of node.data.matchAll(form)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const lines = new Set(Array.from(range.getClientRects(), (each) => Math.round(each.top)));
      if (lines.size > 1) faults.push(`a word on ${lines.size} lines: ${word[0].slice(0, 60)} in ${told(parent)}`);
    }
  }
  return faults;
}"""


def faults_of(page: Page, address: str, awaited: str, widths: Sequence[int]) -> list[str]:
    """Return what is wrong with a page, once a text is there and all of its parts are, at each width."""
    page.goto(address)
    page.get_by_text(awaited).first.wait_for(timeout=20_000)
    page.wait_for_function(_PENDING, timeout=20_000)
    found: list[str] = []
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        found += [f"{address} at {width}: {fault}" for fault in page.evaluate(_FAULTS)]
    return found
