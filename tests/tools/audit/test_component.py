"""Components are walked with their parts."""

from __future__ import annotations

from tools.audit.component import Component, everything


def test_parts_come_after_what_holds_them() -> None:
    inner = Component("Maven", "g:inner", "1", "outer.jar")
    outer = Component("Maven", "g:outer", "2", "", parts=(inner,))
    other = Component("PyPI", "other", "3", "")
    assert list(everything([outer, other])) == [outer, inner, other]


def test_names() -> None:
    assert Component("Maven", "g:a", "1", "").key == "Maven/g:a"
    assert Component("", "libx.so", "", "x.libs/libx.so").key == "file/libx.so"
    assert str(Component("Maven", "g:a", "1", "a.jar")) == "g:a 1 (a.jar)"
    assert str(Component("PyPI", "a", "1", "")) == "a 1"
