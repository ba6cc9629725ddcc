"""What is done about one schedule, with the truth of the answer."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from attrs import frozen
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from delayer_client.api.models import Schedule
from delayer_client.asynchronous.client import AsyncDelayer
from delayer_client.calls.schedules import Cancellation
from delayer_client.calls.times import iso_instant
from delayer_client.console.guards.sessions import Message
from delayer_client.console.listing.whole_stack import stack_of
from delayer_client.console.place import Place
from delayer_client.console.rendering import place_in, say, session_of
from delayer_client.console.views.forms import fields_of
from delayer_client.console.words.schedules import link
from delayer_client.errors import DelayerError, NoAnswer, WrongArgument

SECONDS: Final = {"seconds": 1, "minutes": 60, "hours": 3_600, "days": 86_400}
TOO_LATE: Final = {
    "handed-over": "It is too late: it was handed over",
    "ended": "It is too late: it has ended already",
    "may-be-running": "It was not cancelled: an attempt of it may still be under way",
}


@frozen(kw_only=True)
class Order:
    """What somebody wants to be done."""

    place: Place
    client: AsyncDelayer
    schedule_id: str
    form: Mapping[str, str]


@frozen(kw_only=True)
class Outcome:
    """What came of it, and which schedule shows it."""

    message: Message
    schedule_id: str


def good(order: Order, text: str, schedule_id: str = "") -> Outcome:
    """It is done."""
    return Outcome(message=Message(kind="good", text=text), schedule_id=schedule_id or order.schedule_id)


def bad(order: Order, text: str) -> Outcome:
    """It is not."""
    return Outcome(message=Message(kind="bad", text=text), schedule_id=order.schedule_id)


async def cancel(order: Order) -> Outcome:
    """Cancels it, and says whether it will never be handed over."""
    done = await order.client.cancel(order.schedule_id)
    return good(order, "Cancelled: it will never be handed over.") if done else bad(order, not_cancelled(done))


def not_cancelled(done: Cancellation) -> str:
    """Why, and when to try again."""
    text = TOO_LATE.get(done.reason, "It was not cancelled")
    if done.claimed_at and done.reason != "may-be-running":
        text = f"{TOO_LATE['handed-over']} at {done.claimed_at.astimezone(UTC):%H:%M:%S} UTC"
        text += ", and has ended" if done.reason == "ended" else ""
    again = f" Try again in {done.retry_after:.0f} s." if done.retry_after else ""
    detail = f" ({done.problem.detail})" if done.problem else ""
    return f"{text}.{again}{detail}"


async def move(order: Order) -> Outcome:
    """Gives it another point in time; what takes its place has an id of its own."""
    at = order.form.get("at")
    moved = await order.client.change(order.schedule_id, **({"at": _instant(at)} if at else {"delay": _delay(order)}))
    due = f" to {moved.point_in_time.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" if moved.point_in_time else ""
    return good(order, f"Moved{due}. This is the schedule that took its place, with an id of its own.", moved.id)


def _instant(text: str) -> datetime:
    try:
        at = iso_instant(text)
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise WrongArgument("The time is like 2026-12-24T18:00, in UTC.") from error


def _delay(order: Order) -> timedelta:
    try:
        return timedelta(seconds=float(order.form.get("amount", "")) * SECONDS[order.form.get("unit", "")])
    except (ValueError, KeyError, OverflowError) as error:
        raise WrongArgument("Say in how many seconds, minutes, hours or days.") from error


async def stop(order: Order) -> Outcome:
    """Keeps further attempts from starting."""
    found = await order.client.stop(order.schedule_id)
    if found.state == "dropped":
        return good(order, "Stopped: it has ended as dropped.")
    return good(order, "No further attempt starts. One that already runs may still succeed.")


async def redrive(order: Order) -> Outcome:
    """Sends it on its way again, by the operator function."""
    one = await order.client.get(order.schedule_id)  # whose it is, the API says
    try:
        answer = await asyncio.to_thread(_redriven, order.place, one)
    except Exception as error:  # noqa: BLE001 - of boto3, too: the text says what is missing
        return bad(order, f"It was not redriven. {error}")
    said = ", ".join(str(found.get("outcome", "")) for found in answer.get("schedules", []))
    if said == "redriven":
        return good(order, "Redriven: it is on its way again.")
    return bad(order, f"The operator function answers: {said or answer}.")


def _redriven(place: Place, one: Schedule) -> dict[str, Any]:
    letters = stack_of(place).dead_letters
    prefix = "failed/" if one.state == "failed" else "dead-lettered/"
    found = letters.page(f"{prefix}{one.id}/").letters
    if not found:
        raise LookupError("It is not among the dead letters.")
    return letters.redrive(found[0].key, by="console")


Does = Callable[[Order], Awaitable[Outcome]]
DEEDS: Final[dict[str, Does]] = {"cancel": cancel, "move": move, "stop": stop, "redrive": redrive}


async def act(request: Request) -> Response:
    """Does something about a schedule, and shows it with what came of that."""
    does = DEEDS.get(request.path_params["what"])
    if does is None:
        raise HTTPException(404)
    place = place_in(request)
    order = Order(
        place=place,
        client=place.of(session_of(request).owner),
        schedule_id=request.path_params["id"],
        form=await fields_of(request),
    )
    try:
        outcome = await does(order)
    except NoAnswer as error:
        outcome = bad(order, str(error))
    except DelayerError as error:
        outcome = bad(order, f"Nothing was changed. {error}")
    say(request, outcome.message)
    return RedirectResponse(link(outcome.schedule_id), 303)
