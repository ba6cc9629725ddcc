"""The action event-put."""

from typing import Annotated

from delayer.extension.executor import Action, Done, Message, Meta, Result, executor
from delayer.targets.aws_call import RoleArn, Service, facts_of, id_of, place_of
from delayer.targets.known import KNOWN, PutsEvents

BUS = r"^arn:aws[a-z-]*:events:[a-z0-9-]+:[0-9]{12}:event-bus/[A-Za-z0-9._-]{1,256}$"
BUSES = {"x-allowed": "the ARN of an event bus"}
SOURCE = {"x-allowed": "1 to 256 letters, digits and . _ / -, not beginning with aws."}
DETAIL_TYPES = {"x-allowed": "1 to 128 printable ASCII characters"}

EVENTS = Service(
    name="events",
    shown="EventBridge",
    target="an event bus",
    never=frozenset({
        "InvalidArgument", "InvalidAccountIdException", "MalformedDetail", "NotAuthorizedForSourceException",
        "NotAuthorizedForDetailTypeException", "RedactionFailure", "ValidationException",
    }),
    once=("PutEvents",),
)  # fmt: skip


class EventPut(Action):
    """An event on an EventBridge bus, whose detail is the payload."""

    event_bus_arn: Annotated[str, Meta(pattern=BUS, max_length=400, extra_json_schema=BUSES)]
    source: Annotated[str, Meta(pattern=r"^(?!aws\.)[A-Za-z0-9._/-]{1,256}$", extra_json_schema=SOURCE)]
    detail_type: Annotated[str, Meta(pattern="^[ -~]{1,128}$", extra_json_schema=DETAIL_TYPES)]
    role_arn: RoleArn = ""


@executor("event-put", fair_by="eventBusArn", reaches="eventBus:eventBusArn", payload={"type": "object"})
def handler(message: Message[EventPut]) -> Result:
    """One event. What it says of its schedule is among its resources: the detail is the client's alone."""
    action = message.action

    bus = place_of(action.event_bus_arn)

    def put(events: PutsEvents) -> Result:
        if not KNOWN.has(action.event_bus_arn):  # to one that is missing, AWS takes an event, and drops it
            events.describe_event_bus(Name=bus.name.removeprefix("event-bus/"))
            KNOWN.add(action.event_bus_arn)
        entry = {
            "EventBusName": action.event_bus_arn,
            "Source": action.source,
            "DetailType": action.detail_type,
            "Detail": message.payload,
            "Resources": [f"{name}:{value}" for name, value in facts_of(message).items()],
        }
        [result] = events.put_events(Entries=[entry])["Entries"]
        return (
            EVENTS.failure(result["ErrorCode"]) if result.get("ErrorCode") else Done(id_of("event", result, "EventId"))
        )

    return EVENTS.attempt(message, bus, put, role_arn=action.role_arn)
