"""Metrics of kinds: what is declared is collected, whether there are streams or not."""

from __future__ import annotations

from broker.http.operators.metrics import kind_collectors, kind_metric_forms


def test_each_form_has_a_family_without_streams() -> None:
    families = [family for collector in kind_collectors({}) for family in collector.collect()]
    assert [family.documentation for family in families] == [form.text for form in kind_metric_forms()]
    assert not any(family.samples for family in families)
