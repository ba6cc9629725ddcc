"""The stacks that a whole run has in common, and what each of them is given before the tests begin."""

from typing import Any, Final

from attrs import frozen

from delayer.schedule.instants import MINUTE, SECOND, Millis, edge_of, format_instant, start_of

PERIOD: Final = MINUTE
ON_TIME, OVERDUE, EACH_MINUTE, FAILURES = "/on-time", "/overdue", "/each-minute", "/failures"  # paths at the holder
TARGET_ROLE: Final = "arn:aws:iam::000000000000:role/delayer-target-role"
MAIN, OUTAGES = "main", "outages"
EARLY: Final = "early"  # the owner of what is given early


@frozen(kw_only=True)
class Kind:
    """How a stack is started."""

    parameters: dict[str, str]
    has_minute_task: bool = True
    starts_functions: bool = True


KINDS: Final = {
    # Every name is a target, so that nothing but the stack's own guards keeps sqs-send from its queues.
    MAIN: Kind(parameters={"DelayerPeriod": "60", "SqsTargetNamePattern": "*", "TargetRoleArns": TARGET_ROLE}),
    # What a whole stack suffers is done to this one, beside the tests on the other.
    OUTAGES: Kind(parameters={"DelayerPeriod": "60"}, has_minute_task=False, starts_functions=False),
}


def beyond_the_period(now: Millis) -> Millis:
    """The first instant that the fast track leaves to the minute task."""
    return start_of(edge_of(now + 2 * SECOND, PERIOD) + 1)


def early(name: str, url: str, now: Millis) -> dict[str, tuple[str, dict[str, Any]]]:
    """What a stack is given as soon as it runs, because it takes minutes: by path of the target, call and body."""
    first = format_instant(now + 3 * SECOND)
    series = {"repeat": {"every": "PT1M", "anchor": first, "from": first}, "payload": "<delayer.occurrence.number>"}
    late = {"pointInTime": format_instant(beyond_the_period(now))}
    given: dict[str, dict[str, tuple[str, dict[str, Any]]]] = {
        MAIN: {ON_TIME: ("/schedules", late), EACH_MINUTE: ("/series", series)},
        OUTAGES: {OVERDUE: ("/schedules", late)},
    }
    return {
        path: (call, {**body, "action": {"type": "http-request", "url": url + path}})
        for path, (call, body) in given[name].items()
    }
