"""The minute task of a stack, switched on and off."""

from typing import Any, Literal

from local.stack.running_stack import RunningStack


def switch_minute_task(stack: RunningStack, state: Literal["ENABLED", "DISABLED"]) -> None:
    """All that is called each minute."""
    events: Any = stack.client("events")
    for rule in events.list_rules()["Rules"]:
        if rule.get("ScheduleExpression"):
            (events.enable_rule if state == "ENABLED" else events.disable_rule)(Name=rule["Name"])
