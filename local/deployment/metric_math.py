"""The template without the alarms that the emulator refuses: those on an expression over several metrics."""

from typing import Any


def without_metric_math(template: dict[str, Any]) -> dict[str, Any]:
    """The same template, whose loops are expanded."""
    resources = template.get("Resources", {}).items()
    return {**template, "Resources": {name: one for name, one in resources if not _has_metric_math(one)}}


def _has_metric_math(resource: Any) -> bool:
    return resource.get("Type") == "AWS::CloudWatch::Alarm" and "Metrics" in resource.get("Properties", {})
