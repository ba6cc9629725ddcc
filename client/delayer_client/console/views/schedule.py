"""One schedule: its path, its definition, its history, and what can be done about it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from attrs import frozen
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from delayer_client.api.models import Schedule
from delayer_client.asynchronous.client import AsyncDelayer
from delayer_client.calls.schedules import Cancellation
from delayer_client.console.guards.sessions import Message
from delayer_client.console.listing.whole_stack import stack_of
from delayer_client.console.pictures.path import path
from delayer_client.console.place import PREFIX, Place
from delayer_client.console.rendering import page, place_in, say, session_of
from delayer_client.console.views.owner import field
from delayer_client.console.words.schedules import BAD, LIVE, link
from delayer_client.errors import DelayerError, NoAnswer, WrongArgument

SECONDS: Final = {"seconds": 1, "minutes": 60, "hours": 3_600, "days": 86_400}


@frozen(kw_only=True)
class Possible:
    """What can be done now."""

    cancel: bool
    move: bool
    stop: bool
    redrive: bool


def possible(one: Schedule) -> Possible:
    """As its state allows. The API decides when it is asked."""
    waits = one.state in ("undecided", "scheduled", "enqueued")
    return Possible(
        cancel=waits or one.state in BAD,
        move=waits or one.state in BAD,
        stop=(one.state == "claimed" and one.stopped_at is None) or one.state == "dead-lettered",
        redrive=one.state in BAD,
    )


async def show(request: Request) -> Response:
    """The page; with htmx, the part of it that changes."""
    place = place_in(request)
    one = await place.of(session_of(request).owner).get(request.path_params["id"])
    context = {
        "one": one,
        "path": path(one, place.now()),
        "possible": possible(one),
        "is_live": one.state in LIVE,
        "units": SECONDS,
    }
    return page(request, "schedule.html", context, here="schedules")


async def cancel(request: Request, client: AsyncDelayer, schedule_id: str, _form: Mapping[str, str]) -> Message:
    """The truth: whether it will never be handed over."""
    done = await client.cancel(schedule_id)
    if done:
        return Message(kind="good", text="Cancelled: it will never be handed over.")
    return Message(kind="bad", text=_not_cancelled(done))


def _not_cancelled(done: Cancellation) -> str:
    words = {
        "handed-over": "It is too late: it was handed over",
        "ended": "It is too late: it has ended already",
        "may-be-running": "It was not cancelled: an attempt of it may still be under way",
    }
    text = words.get(done.reason, "It was not cancelled")
    if done.claimed_at:
        text += f" at {done.claimed_at.astimezone(UTC):%H:%M:%S} UTC"
    again = f" Try again in {done.retry_after:.0f} s." if done.retry_after else ""
    detail = f" ({done.problem.detail})" if done.problem else ""
    return f"{text}.{again}{detail}"


async def move(request: Request, client: AsyncDelayer, schedule_id: str, form: Mapping[str, str]) -> Message:
    """Another point in time; the answer has a new id."""
    if form.get("at"):
        when: dict[str, Any] = {"at": _instant(form["at"])}
    else:
        when = {"delay": timedelta(seconds=_amount(form) * SECONDS.get(form.get("unit", ""), 60))}
    moved = await client.change(schedule_id, **when)
    request.state.to = moved.id
    due = f" to {moved.point_in_time.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" if moved.point_in_time else ""
    return Message(kind="good", text=f"Moved{due}. This is the schedule that took its place, with an id of its own.")


def _instant(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise WrongArgument("The time is like 2026-12-24T18:00, in UTC.") from error
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _amount(form: Mapping[str, str]) -> float:
    try:
        return float(form.get("amount", ""))
    except ValueError as error:
        raise WrongArgument("Say in how many seconds, minutes, hours or days.") from error


async def stop(request: Request, client: AsyncDelayer, schedule_id: str, _form: Mapping[str, str]) -> Message:
    """No further attempt."""
    found = await client.stop(schedule_id)
    if found.state == "dropped":
        return Message(kind="good", text="Stopped: it has ended as dropped.")
    return Message(kind="good", text="No further attempt starts. One that already runs may still succeed.")


async def redrive(request: Request, client: AsyncDelayer, schedule_id: str, _form: Mapping[str, str]) -> Message:
    """Sends it on its way again, by the operator function."""
    one = await client.get(schedule_id)
    try:
        answer = await asyncio.to_thread(_redriven, place_in(request), one)
    except Exception as error:  # noqa: BLE001 - of boto3, too: the text says what is missing
        return Message(kind="bad", text=f"It was not redriven. {error}")
    outcomes = answer.get("schedules", [])
    said = "; ".join(str(found.get("outcome", found)) if isinstance(found, dict) else str(found) for found in outcomes)
    return Message(
        kind="good" if "redriven" in said else "plain", text=f"The operator function answers: {said or answer}."
    )


def _redriven(place: Place, one: Schedule) -> dict[str, Any]:
    letters = stack_of(place).dead_letters
    prefix = "failed/" if one.state == "failed" else "dead-lettered/"
    key = next((letter.key for letter in letters.list(prefix) if letter.schedule_id == one.id), None)
    if key is None:
        raise LookupError("It is not among the dead letters.")
    return letters.redrive(key, by="console")


Does = Callable[[Request, AsyncDelayer, str, Mapping[str, str]], Awaitable[Message]]
ACTIONS: Final[dict[str, Does]] = {"cancel": cancel, "move": move, "stop": stop, "redrive": redrive}


async def act(request: Request) -> Response:
    """Does it, and shows the schedule with what came of it."""
    schedule_id, does = request.path_params["id"], ACTIONS.get(request.path_params["what"])
    if does is None:
        raise HTTPException(404)
    async with request.form() as form:
        fields = {name: field(form, name) for name in form}
    request.state.to = schedule_id
    client = place_in(request).of(session_of(request).owner)
    try:
        message = await does(request, client, schedule_id, fields)
    except NoAnswer as error:
        message = Message(kind="bad", text=str(error))
    except DelayerError as error:
        message = Message(kind="bad", text=f"Nothing was changed. {error}")
    say(request, message)
    return RedirectResponse(link(request.state.to), 303)


ROUTES: Final = (
    Route(f"{PREFIX}/schedules/{{id}}", show),
    Route(f"{PREFIX}/schedules/{{id}}/{{what}}", act, methods=["POST"]),
)
