"""How the moved ones are switched off at EventBridge: commands for a person, and their order.

Until then both fire. In this order nothing fires twice, and nothing is left out.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from shlex import quote
from typing import Final

from delayer_client.eventbridge.applying import Outcome, State
from delayer_client.eventbridge.mapping.expressions import is_one_time, text_of
from delayer_client.eventbridge.mapping.outcome import Source

IN_DELAYER: Final = frozenset({State.MOVED, State.THERE})
# UpdateSchedule sets what is not given to its default, so the whole schedule is read and sent back.
_WHOLE: Final = "del(.Arn, .CreationDate, .LastModificationDate)"


def commands(outcomes: Sequence[Outcome], cutover: datetime | None = None) -> tuple[str, ...]:
    """For a shell with `aws` and `jq`. They disable, or end, what is in Delayer now, and delete nothing but targets.

    A rule of which some targets stay loses the moved ones, since a rule can only be disabled as a whole.
    """
    return (*_of_schedules(outcomes, cutover), *_of_rules(outcomes))


def steps(outcomes: Sequence[Outcome], cutover: datetime | None = None) -> tuple[str, ...]:
    """Lists the steps that are to be done, in this order."""
    moved = [one for one in outcomes if one.state in IN_DELAYER]
    if not moved:
        return ()
    if cutover is None:
        return tuple(_steps_at_once(moved))
    return tuple(_steps_at_cutover(moved, cutover))


def _steps_at_once(moved: Iterable[Outcome]) -> Iterator[str]:
    times = sorted(one.next[0] for one in moved if one.next)
    soonest = f" The first of them is due at {times[0]}." if times else ""
    yield f"They are in Delayer and at EventBridge: from their next time on both fire.{soonest}"
    yield "Look at their next times in Delayer (`delayer series next`), and at the notes: what has to be changed first."
    yield (
        "Run the command of each between two of its times: after the last that EventBridge fires, before the next. "
        "Then nothing fires twice, and nothing is left out. For what fires every few minutes, use a cut-over."
    )
    yield "If something is wrong, cancel it in Delayer first, and leave EventBridge as it is."


def _steps_at_cutover(moved: Sequence[Outcome], cutover: datetime) -> Iterator[str]:
    yield f"Until {text_of(cutover)} EventBridge fires them, from then on Delayer: each time belongs to one of the two."
    yield "Look at their next times in Delayer (`delayer series next`), and at the notes: what has to be changed first."
    yield (
        f"Run the commands of the schedules before {text_of(cutover)}: those that recur get an EndDate one second "
        "before it; those that fire once, or begin later, are disabled."
    )
    if any(one.item.source.service == "rule" for one in moved):
        yield (
            "Rules have no end. Run the command of each after its last time before the cut-over, and before the first "
            "time after it."
        )
    yield "If something is wrong, cancel it in Delayer before the cut-over, and run no command for it."


def _of_schedules(outcomes: Iterable[Outcome], cutover: datetime | None) -> Iterator[str]:
    for outcome in outcomes:
        source = outcome.item.source
        if source.service == "scheduler" and outcome.state in IN_DELAYER:
            yield _update(source, cutover)


def _update(source: Source, cutover: datetime | None) -> str:
    change = '.State = "DISABLED"'
    is_begun = cutover is not None and (source.start is None or source.start < cutover)
    if cutover is not None and is_begun and not is_one_time(source.expression):
        change = f'.EndDate = "{text_of(cutover - timedelta(seconds=1))}"'
    place = _options(region=source.region)
    of_it = _options(**{"group-name": source.within}, name=source.name)
    read = f"aws scheduler get-schedule{place}{of_it}"
    whole = f"{read} --output json | jq {quote(f'{_WHOLE} | {change}')}"
    return f'aws scheduler update-schedule{place} --cli-input-json "$({whole})"'


def _of_rules(outcomes: Iterable[Outcome]) -> Iterator[str]:
    rules: dict[tuple[str, str, str], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        source = outcome.item.source
        if source.service == "rule":
            rules[(source.region, source.within, source.name)].append(outcome)
    for (region, bus, name), of_rule in rules.items():
        moved = [one.item.source.target_id for one in of_rule if one.state in IN_DELAYER]
        place = _options(**{"region": region, "event-bus-name": bus})
        if len(moved) == len(of_rule):
            yield f"aws events disable-rule{place}{_options(name=name)}"
        elif moved:
            yield f"aws events remove-targets{place}{_options(rule=name, ids=json.dumps(moved))}"


def _options(**values: str) -> str:
    """Each with its value behind a sign of equality, since a name may begin with a hyphen."""
    return "".join(f" --{name}={quote(value)}" for name, value in values.items() if value)
