"""A lifecycle event, posted to a URL as safely as the action http-request does it (ADR 0025, 0091)."""

import json

from delayer.core.firing.executing import Result
from delayer.core.history.received import Event
from delayer.core.schedule.definition import Definition
from delayer.core.schedule.messages import ExecutorMessage
from delayer.core.schedule.schedule import Schedule
from delayer.targets.http_request import HttpTarget


def post_event(target: HttpTarget, url: str, event: Event) -> Result:
    """One request, with the whole CloudEvent as its body."""
    headers = {"Content-Type": "application/cloudevents+json", "Delayer-Event-Id": event.id}
    schedule = Schedule(
        id=event.schedule_id,
        owner=event.owner,
        point_in_time=event.point_in_time,
        created_at=event.at,
        definition=Definition(
            action=json.dumps({"type": "http-request", "url": url, "headers": headers}),
            payload=json.dumps(event.cloud_event),
        ),
    )
    return target(ExecutorMessage(schedule=schedule, nonce="", fence="", attempt=max(event.attempt, 1)))
