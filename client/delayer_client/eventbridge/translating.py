"""Each schedule, and each target of a scheduled rule, becomes a request to Delayer or a reason why there is none."""

from collections.abc import Iterator
from datetime import datetime
from shlex import quote
from typing import Final

from delayer_client.errors import WrongArgument
from delayer_client.eventbridge.composing import Draft, name_of, request_of, tag_of
from delayer_client.eventbridge.mapping.api_destinations import MARK, api_destination
from delayer_client.eventbridge.mapping.arns import arn_of
from delayer_client.eventbridge.mapping.expressions import LEAD, is_one_time, repeat_of
from delayer_client.eventbridge.mapping.outcome import (
    CannotMove,
    Earlier,
    Kind,
    Left,
    Note,
    Options,
    Request,
    Source,
    Translated,
)
from delayer_client.eventbridge.mapping.payloads import checked_payload, input_of
from delayer_client.eventbridge.mapping.scheduled_events import input_of_rule
from delayer_client.eventbridge.mapping.targets import Aim, aimed, allowed
from delayer_client.eventbridge.mapping.universal import is_universal, universal
from delayer_client.eventbridge.reading.sources import (
    DEFAULT,
    Found,
    Rule,
    RuleTarget,
    Schedule,
)
from delayer_client.eventbridge.timing import timing_of

_DISABLED: Final = "it is disabled, so nothing would fire: what is moved would be active at once"


def translate(found: Found, options: Options) -> tuple[Translated, ...]:
    """In the order in which it was read. No two have the same name. Raises WrongArgument for a wrong cut-over."""
    at = options.cutover
    if at is not None and (at.second or at.microsecond or at < options.now + LEAD):
        raise WrongArgument("A cut-over is a whole minute, five minutes from now at the earliest.")
    names: dict[str, str] = {}
    return tuple(_unique(one, names) for one in _each(found, options))


def translate_schedule(schedule: Schedule, options: Options) -> Translated:
    """A schedule of EventBridge Scheduler."""
    source = Source(
        service="scheduler",
        name=schedule.name,
        within=schedule.group_name,
        expression=schedule.schedule_expression,
        arn=schedule.arn,
        region=arn_of(schedule.arn).region,
        start=schedule.start_date,
    )
    try:
        _check_names(source)
        return _of_schedule(schedule, source, options)
    except CannotMove as error:
        earlier = _earlier(source, error.until, options) if error.until else None
        return Left(source=source, field=error.field, reason=error.reason, earlier=earlier)


def translate_rule(rule: Rule, found: Found, options: Options) -> tuple[Translated, ...]:
    """A rule of an event bus: a series for each of its targets."""
    try:
        _check_names(_source_of(rule))
        _check_rule(rule, found)
    except CannotMove as error:
        return (Left(source=_source_of(rule), field=error.field, reason=error.reason),)
    return tuple(_rule_target(rule, target, found, options) for target in rule.targets or ())


def _rule_target(rule: Rule, target: RuleTarget, found: Found, options: Options) -> Translated:
    source = _source_of(rule, target.id)
    try:
        _check_names(source)
        return _of_rule(rule, target, source, found, options)
    except CannotMove as error:
        return Left(source=source, field=error.field, reason=error.reason)


def _of_schedule(schedule: Schedule, source: Source, options: Options) -> Request:
    if schedule.state != "ENABLED":
        raise CannotMove("State", _DISABLED)
    timing, when, due = timing_of(schedule, options)
    text, notes = input_of(schedule, due)
    target, is_series = schedule.target, due is None
    if is_universal(target.arn):
        aim = universal(target.arn, text, schedule.arn, is_series=is_series)
    else:
        aim = aimed(
            Aim(
                arn=target.arn,
                payload=checked_payload(text, "Target.Input", is_series=is_series),
                message_group_id=target.sqs_parameters.message_group_id,
                event=target.event_bridge_parameters,
            )
        )
    aim = allowed(aim, schedule.arn, options)
    more = [*when, *notes, *aim.notes, *_kept_out(schedule)]
    group = {} if schedule.group_name == DEFAULT else {"group": schedule.group_name}
    kind: Kind = "series" if is_series else "schedule"
    draft = Draft(source=source, kind=kind, fields={**timing, **group}, aim=aim, notes=tuple(more))
    return request_of(draft, target, schedule.description, options)


def _of_rule(rule: Rule, target: RuleTarget, source: Source, found: Found, options: Options) -> Request:
    repeat, when = repeat_of(rule.schedule_expression, options)
    text, notes = input_of_rule(rule, target)
    payload = checked_payload(text, "Target.Input", is_series=True) if target.input is None else _constant(text)
    if MARK in target.arn:
        aim = api_destination(target, payload, found)
    else:
        group_id = target.sqs_parameters.message_group_id
        aim = aimed(Aim(arn=target.arn, payload=payload, message_group_id=group_id, is_rule=True))
        aim = allowed(aim, rule.arn, options)
    notes = (*when, *notes, *aim.notes)
    draft = Draft(source=source, kind="series", fields={"repeat": repeat}, aim=aim, notes=notes)
    return request_of(draft, target, rule.description, options)


def _check_names(source: Source) -> None:
    """Refuses names with control characters: names are printed, and put into commands."""
    fields = {"Name": source.name, "Arn": source.arn, "Id": source.target_id}
    fields["GroupName" if source.service == "scheduler" else "EventBusName"] = source.within
    for field, value in fields.items():
        if not value.isprintable():
            raise CannotMove(field, f"it has control characters, which none at EventBridge has: {value!a}")


def _check_rule(rule: Rule, found: Found) -> None:
    if not rule.schedule_expression:
        raise CannotMove("EventPattern", "the rule waits for events, and Delayer for points in time: leave it")
    if rule.event_pattern:
        raise CannotMove("EventPattern", "the rule waits for events, too: give it a rule of its own for the schedule")
    if rule.managed_by:
        raise CannotMove("ManagedBy", f"{rule.managed_by} has made the rule and looks after it: leave it")
    if not rule.state.startswith("ENABLED"):
        raise CannotMove("State", _DISABLED)
    _check_targets(rule, found)


def _check_targets(rule: Rule, found: Found) -> None:
    """A rule of which only some targets are known is left: it would be disabled with those that are not."""
    prints = f"`aws events list-targets-by-rule --rule={quote(rule.name)}` prints them"
    if (rule.event_bus_name, rule.name) in found.cut_off:
        raise CannotMove("Targets", f"not all its targets were read, since the list is cut off: {prints}")
    if rule.targets is None:
        raise CannotMove("Targets", f"its targets were not read: {prints}")
    if not rule.targets:
        raise CannotMove("Targets", "it has no target")


def _constant(text: str) -> str:
    if "<delayer.occurrence." in text:
        raise CannotMove("Target.Input", "it has a placeholder of Delayer's, which would be replaced")
    return checked_payload(text, "Target.Input", is_series=True)


def _kept_out(schedule: Schedule) -> Iterator[Note]:
    if schedule.kms_key_arn:
        yield Note("KmsKeyArn", "the key is not used: the stack's tables and queues are encrypted as the stack says")
    if schedule.action_after_completion == "DELETE":
        yield Note("ActionAfterCompletion", "nothing has to be deleted: what is over is gone from Delayer by itself")


def _source_of(rule: Rule, target_id: str = "") -> Source:
    bus = rule.event_bus_name.rpartition("/")[2] if rule.event_bus_name.startswith("arn:") else rule.event_bus_name
    return Source(
        service="rule",
        name=rule.name,
        within=bus,
        expression=rule.schedule_expression,
        arn=rule.arn,
        target_id=target_id,
        region=arn_of(rule.arn).region,
    )


def _earlier(source: Source, until: datetime, options: Options) -> Earlier:
    kind: Kind = "schedule" if is_one_time(source.expression) else "series"
    return Earlier(kind=kind, name=name_of(source, options.prefix), tag=tag_of(source), until=until)


def _each(found: Found, options: Options) -> Iterator[Translated]:
    for schedule in found.schedules:
        yield translate_schedule(schedule, options)
    for rule in found.rules:
        yield from translate_rule(rule, found, options)


def _unique(one: Translated, names: dict[str, str]) -> Translated:
    """Two schedules of different regions may be called the same."""
    if isinstance(one, Left):
        return one
    first = names.setdefault(one.name, one.tag)
    if first == one.tag:
        return one
    reason = f"{first} is called {one.name} in Delayer, too: move one region after the other, each with a prefix"
    return Left(source=one.source, field="Name", reason=reason)
