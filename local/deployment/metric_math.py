"""The template without the alarms that the emulator refuses: those on an expression over several metrics."""

from typing import Any


def without_metric_math(template: dict[str, Any]) -> dict[str, Any]:
    """The same template; in its loops (Fn::ForEach), too. A loop of which nothing is left is left out."""
    kept: dict[str, Any] = {}
    for name, resource in template.get("Resources", {}).items():
        if isinstance(resource, list):
            bodies = {each: body for each, body in resource[2].items() if not _has_metric_math(body)}
            if bodies:
                kept[name] = [*resource[:2], bodies]
        elif not _has_metric_math(resource):
            kept[name] = resource
    return {**template, "Resources": kept}


def _has_metric_math(resource: Any) -> bool:
    return resource.get("Type") == "AWS::CloudWatch::Alarm" and "Metrics" in resource.get("Properties", {})
