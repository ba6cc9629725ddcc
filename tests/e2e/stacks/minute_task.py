"""The minute task of a stack, switched on and off."""

from typing import Any, Literal

from local.stack.running_stack import RunningStack


def switch_minute_task(stack: RunningStack, state: Literal["ENABLED", "DISABLED"]) -> None:
    """All that is called each minute."""
    scheduler: Any = stack.client("scheduler")
    for summary in scheduler.list_schedules()["Schedules"]:
        full = scheduler.get_schedule(Name=summary["Name"], GroupName=summary["GroupName"])
        kept = ("Name", "GroupName", "ScheduleExpression", "FlexibleTimeWindow", "Target")
        scheduler.update_schedule(**{key: full[key] for key in kept}, State=state)
