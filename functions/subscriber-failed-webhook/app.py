"""Calls a webhook for each schedule that failed."""

from functools import cache

from delayer.aws.runtime.environment import setting
from delayer.core.firing.executing import Done
from delayer.extension.subscriber import Event, NotDone, subscriber
from delayer.targets.http_request import HttpTarget
from delayer.targets.webhook import post_event


@cache
def target() -> HttpTarget:
    """Made for the first event."""
    return HttpTarget(allow_private=setting("ALLOW_PRIVATE_TARGETS") == "true")


@subscriber("failed-webhook")
def handler(event: Event) -> None:
    """One event, of a schedule that is failed or dead-lettered. Without a URL there is nothing to do."""
    if url := setting("FAILED_WEBHOOK_URL"):
        result = post_event(target(), url, event)
        if not isinstance(result, Done):
            raise NotDone(result.detail)
