"""One schedule: its path, its definition, its history, and what can be done about it."""

from datetime import datetime, timedelta
from typing import Final

from attrs import frozen
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from delayer_client.api.models import Schedule
from delayer_client.console.pictures.path import path
from delayer_client.console.place import PREFIX
from delayer_client.console.rendering import page, place_in, session_of
from delayer_client.console.views.deeds import SECONDS, act
from delayer_client.states import BAD, LIVE, WAITING

PATIENCE: Final = timedelta(minutes=1)


@frozen(kw_only=True)
class Possible:
    """Says what can be done with a schedule now."""

    cancel: bool
    move: bool
    stop: bool
    redrive: bool


def possible(one: Schedule) -> Possible:
    """As its state allows. The API decides when it is asked.

    A dead letter that was claimed may have reached its target: it can be stopped, and not be cancelled.
    """
    waits, was_claimed = one.state in WAITING, one.claimed_at is not None
    is_letter = one.state == "dead-lettered"
    return Possible(
        cancel=waits or (is_letter and not was_claimed),
        move=waits or one.state in BAD,
        stop=(one.state == "claimed" and one.stopped_at is None) or (is_letter and was_claimed),
        redrive=one.state in BAD,
    )


def is_behind(one: Schedule, now: datetime) -> bool:
    """Whether the journal has not come to its end yet, which takes it a second or two."""
    is_recent = one.since is not None and now - one.since < PATIENCE
    return is_recent and bool(one.history) and (one.history or [])[-1].state != one.state


async def show(request: Request) -> Response:
    """One schedule: its path as a picture, its history with the target's answers, its definition, what can be done.

    It renews itself every two seconds until the schedule has ended.
    """
    place = place_in(request)
    one = await place.of(session_of(request).owner).get(request.path_params["id"])
    context = {
        "one": one,
        "path": path(one, place.now()),
        "possible": possible(one),
        "is_live": one.state in LIVE or is_behind(one, place.now()),
        "is_followed": request.query_params.get("live", "on") != "off",
        "units": SECONDS,
    }
    return page(request, "schedule.html", context, here="schedules")


ROUTES: Final = (
    Route(f"{PREFIX}/schedules/{{id}}", show),
    Route(f"{PREFIX}/schedules/{{id}}/{{what}}", act, methods=["POST"]),
)
