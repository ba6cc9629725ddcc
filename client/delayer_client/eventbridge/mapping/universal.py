"""Universal targets, `arn:aws:scheduler:::aws-sdk:service:apiAction`: the Input holds the parameters of an API call.

What an action of Delayer cannot do is refused, never left out in silence. Source: the user guide of EventBridge
Scheduler, "Using universal targets", and the API references of the services.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from delayer_client.eventbridge.mapping.arns import Arn, arn_of, checked
from delayer_client.eventbridge.mapping.outcome import Aimed, CannotMove, Note
from delayer_client.eventbridge.mapping.payloads import checked_payload
from delayer_client.eventbridge.mapping.targets import NO_ACTION, Aim, aimed, check_fifo, event_put

PREFIX: Final = ":scheduler:::aws-sdk:"
FIELD: Final = "Target.Input"
_Parameters = dict[str, Any]


def is_universal(arn: str) -> bool:
    """Whether it names a call of AWS's SDK."""
    return PREFIX in arn


def universal(arn: str, text: str, home: str, *, is_series: bool) -> Aimed:
    """`home` is the ARN of the schedule: names without a place are of its region and account. Raises CannotMove."""
    call = arn.partition(PREFIX)[2]
    build = CALLS.get(call)
    if build is None:
        raise CannotMove("Target.Arn", f"the target is the call {call}. {NO_ACTION}")
    given = json.loads(checked_payload(text, FIELD, is_series=is_series))
    if not isinstance(given, dict):
        raise CannotMove(FIELD, f"it has to be an object with the parameters of {call}")
    parameters = {name[:1].upper() + name[1:]: value for name, value in given.items()}
    found = build(parameters, arn_of(home))
    if parameters:
        raise CannotMove(FIELD, f"Delayer's action has no counterpart of {', '.join(sorted(parameters))} of {call}")
    checked_payload(found.payload, FIELD, is_series=is_series)
    return found


def _send_message(given: _Parameters, _: Arn) -> Aimed:
    action = {"type": "sqs-send", "queueUrl": checked("queueUrl", _text(given, "QueueUrl"), FIELD)}
    _group_id(given, action)
    check_fifo(action)
    _nothing(given, "DelaySeconds", 0)
    return Aimed(action=action, payload=_text(given, "MessageBody"), notes=_deduplication(given))


def _publish(given: _Parameters, _: Arn) -> Aimed:
    name = "TargetArn" if "TargetArn" in given else "TopicArn"
    action: _Parameters = {"type": "sns-publish", "topicArn": checked("topicArn", _text(given, name), FIELD)}
    if "Subject" in given:
        action["subject"] = checked("subject", _text(given, "Subject"), FIELD)
    _group_id(given, action)
    return Aimed(action=action, payload=_text(given, "Message"), notes=_deduplication(given))


def _invoke(given: _Parameters, home: Arn) -> Aimed:
    name, qualifier = _text(given, "FunctionName"), _optional(given, "Qualifier")
    arn = (
        name if name.startswith("arn:") else f"arn:{home.partition}:lambda:{home.region}:{home.account}:function:{name}"
    )
    found = aimed(Aim(arn=f"{arn}:{qualifier}" if qualifier else arn, payload=_optional(given, "Payload") or "null"))
    kind = _optional(given, "InvocationType") or "RequestResponse"
    if kind not in ("Event", "RequestResponse"):
        raise CannotMove(FIELD, f"Delayer has no InvocationType {kind}")
    return Aimed(action={**found.action, "invocationType": kind}, payload=found.payload, notes=found.notes)


def _start_execution(given: _Parameters, _: Arn) -> Aimed:
    found = aimed(Aim(arn=_text(given, "StateMachineArn"), payload=_optional(given, "Input") or "{}"))
    note = Note(FIELD, "the execution is named by the id of Delayer's schedule, not by `Name`")
    notes = (*found.notes, note) if given.pop("Name", None) is not None else found.notes
    return Aimed(action=found.action, payload=found.payload, notes=notes)


def _put_events(given: _Parameters, home: Arn) -> Aimed:
    entries = given.pop("Entries", None)
    if not isinstance(entries, list) or len(entries) != 1 or not isinstance(entries[0], dict):
        raise CannotMove(FIELD, "one action puts one event: `Entries` has to have exactly one")
    entry = dict(entries[0])
    bus = _optional(entry, "EventBusName") or "default"
    arn = bus if bus.startswith("arn:") else f"arn:{home.partition}:events:{home.region}:{home.account}:event-bus/{bus}"
    source, kind, detail = _text(entry, "Source"), _text(entry, "DetailType"), _optional(entry, "Detail") or "{}"
    if entry.pop("Resources", []):
        raise CannotMove(FIELD, "Delayer has words of its own in `Resources`, and takes no others")
    given.update(entry)  # what is left of it has no counterpart
    return event_put(arn, source, kind, checked_payload(detail, FIELD, is_series=False))


def _text(given: _Parameters, name: str) -> str:
    value = given.pop(name, None)
    if not isinstance(value, str) or not value:
        raise CannotMove(FIELD, f"{name} is missing, or no text")
    return value


def _optional(given: _Parameters, name: str) -> str:
    return _text(given, name) if name in given else ""


def _nothing(given: _Parameters, name: str, empty: Any) -> None:
    """Takes a parameter away that says what is so anyhow."""
    if given.get(name) == empty:
        given.pop(name, None)


def _group_id(given: _Parameters, action: _Parameters) -> None:
    if "MessageGroupId" in given:
        action["messageGroupId"] = checked("messageGroupId", _text(given, "MessageGroupId"), FIELD)


def _deduplication(given: _Parameters) -> tuple[Note, ...]:
    if given.pop("MessageDeduplicationId", None) is None:
        return ()
    return (Note(FIELD, "the id of Delayer's schedule is the deduplication id, not `MessageDeduplicationId`"),)


CALLS: Final[Mapping[str, Callable[[_Parameters, Arn], Aimed]]] = {
    "sqs:sendMessage": _send_message,
    "sns:publish": _publish,
    "lambda:invoke": _invoke,
    "sfn:startExecution": _start_execution,
    "eventbridge:putEvents": _put_events,
}
