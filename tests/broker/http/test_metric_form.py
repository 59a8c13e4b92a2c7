"""What a metric's samples are called, by its kind."""

from __future__ import annotations

import pytest

from broker.http.metric_form import MetricForm


@pytest.mark.parametrize(
    ("kind", "name", "made", "samples"),
    [
        ("counter", "a_total", "a", ("a_total",)),
        ("gauge", "a", "a", ("a",)),
        ("histogram", "a_seconds", "a_seconds", ("a_seconds_bucket", "a_seconds_count", "a_seconds_sum")),
        ("summary", "a_seconds", "a_seconds", ("a_seconds_count", "a_seconds_sum")),
    ],
)
def test_a_form_makes_families_of_its_name(kind: str, name: str, made: str, samples: tuple[str, ...]) -> None:
    form = MetricForm(name, kind, "Text", ("stream",))  # type: ignore[arg-type]
    family = getattr(form, kind)()
    assert (family.name, family.type, family.documentation) == (made, kind, "Text")
    values = {"histogram": ([("1.0", 3), ("+Inf", 4)], 2.5), "summary": (4, 2.5)}.get(kind, (4,))
    family.add_metric(["s"], *values)
    assert {sample.name for sample in family.samples} == set(form.samples) == set(samples)
    assert all(sample.labels["stream"] == "s" for sample in family.samples)
