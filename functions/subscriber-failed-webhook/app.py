"""Calls a webhook for each schedule that failed."""

import json
from functools import cache
from typing import Final

from delayer.actions.rules.model import Done
from delayer.extension.executor import Message
from delayer.extension.subscriber import Event, NotDone, setting, subscriber
from delayer.targets.http_request import HttpTarget, Request

HEADERS: Final = {"Content-Type": "application/cloudevents+json"}
SECONDS: Final = 10.0  # that the webhook may take to answer


@cache
def target() -> HttpTarget:
    """Made for the first event. It is as careful as the action http-request (ADR 0025)."""
    return HttpTarget(allow_private=setting("ALLOW_PRIVATE_TARGETS") == "true")


@subscriber("failed-webhook")
def handler(event: Event) -> None:
    """One event, of a schedule that is failed or dead-lettered. The setting is the URL; without it, nothing is done."""
    if not (url := setting("SETTING")):
        return
    request = Request(url=url, method="POST", headers=HEADERS, timeout=SECONDS, idempotency_key=event.id)
    message = Message(
        action=None,
        payload=json.dumps(event.cloud_event),
        schedule_id=event.schedule_id,
        owner=event.owner,
        point_in_time=event.point_in_time,
        attempt=event.attempt,
    )
    result = target().send(request, message)
    if not isinstance(result, Done):
        raise NotDone(result.detail)
