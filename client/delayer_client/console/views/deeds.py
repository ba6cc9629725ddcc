"""Changes one schedule, and shows the truth of the answer."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from attrs import frozen
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from delayer_client.api.models import Schedule
from delayer_client.asynchronous.client import AsyncDelayer
from delayer_client.calls.schedules import Cancellation
from delayer_client.calls.times import iso_instant
from delayer_client.console.forms.fields import fields_of
from delayer_client.console.forms.questions import Question, asked
from delayer_client.console.guards.sessions import Message
from delayer_client.console.listing.whole_stack import stack_of
from delayer_client.console.place import Place
from delayer_client.console.rendering import place_in, say, session_of
from delayer_client.console.words.schedules import link, short
from delayer_client.console.words.times import moment
from delayer_client.errors import DelayerError, NoAnswer, WrongArgument

SECONDS: Final = {"seconds": 1, "minutes": 60, "hours": 3_600, "days": 86_400}
TOO_LATE: Final = {
    "handed-over": "It is too late: it was handed over",
    "ended": "It is too late: it has ended already",
    "may-be-running": "It was not cancelled: an attempt of it may still be under way",
}


@frozen(kw_only=True)
class Order:
    """An order of the user."""

    place: Place
    client: AsyncDelayer
    schedule_id: str
    form: Mapping[str, str]

    @property
    def new_time(self) -> datetime:
        """To which it is moved. Raises WrongArgument."""
        at = self.form.get("at")
        return _instant(at, self.form.get("zone") or "UTC") if at else _after(self.place.now(), self.form)


@frozen(kw_only=True)
class Outcome:
    """The result, and the schedule that shows it."""

    message: Message
    schedule_id: str


def good(order: Order, text: str, schedule_id: str = "") -> Outcome:
    """Says that the order was carried out."""
    return Outcome(message=Message(kind="good", text=text), schedule_id=schedule_id or order.schedule_id)


def bad(order: Order, text: str) -> Outcome:
    """Says that the order was not carried out, and why."""
    return Outcome(message=Message(kind="bad", text=text), schedule_id=order.schedule_id)


async def cancel(order: Order) -> Outcome:
    """Cancels it, and says whether it will never be handed over."""
    done = await order.client.cancel(order.schedule_id)
    return good(order, "Cancelled: it will never be handed over.") if done else bad(order, not_cancelled(done))


def not_cancelled(done: Cancellation) -> str:
    """Why, and when to try again."""
    text = TOO_LATE.get(done.reason, "It was not cancelled")
    if done.claimed_at and done.reason != "may-be-running":
        text = Markup("{} at {}").format(TOO_LATE["handed-over"], moment(done.claimed_at))
        text += ", and has ended" if done.reason == "ended" else ""
    again = f" Try again in {done.retry_after:.0f} s." if done.retry_after else ""
    detail = f" ({done.problem.detail})" if done.problem else ""
    return Markup("{}.{}{}").format(text, again, detail)


async def move(order: Order) -> Outcome:
    """Gives it another point in time; what takes its place has an id of its own."""
    moved = await order.client.change(order.schedule_id, at=order.new_time)
    due = Markup(" to {}").format(moment(moved.point_in_time)) if moved.point_in_time else ""
    text = Markup("Moved{}. This is the schedule that took its place, with an id of its own.").format(due)
    return good(order, text, moved.id)


def _instant(text: str, zone: str) -> datetime:
    """Reads a time that was typed by the clock of a zone, that of the browser; or one that was asked about, which says
    its own.
    """
    try:
        at = iso_instant(text)
        return (at if at.tzinfo else at.replace(tzinfo=ZoneInfo(zone))).astimezone(UTC)
    except (ValueError, OverflowError, ZoneInfoNotFoundError, OSError) as error:
        raise WrongArgument(f"The time is like 2026-12-24T18:00, by the clock of {zone}.") from error


def _after(now: datetime, form: Mapping[str, str]) -> datetime:
    try:
        return now + timedelta(seconds=float(form.get("amount", "")) * SECONDS[form.get("unit", "")])
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
EFFECTS: Final = {
    "cancel": "A cancel cannot be undone. The answer says whether it will never be handed over.",
    "move": "The schedule that takes its place has an id of its own.",
    "stop": "No further attempt starts. One that already runs may still succeed. A stop cannot be undone.",
    "redrive": "It is sent on its way again, at once if it is overdue. Its target may get it a second time.",
}


async def question(order: Order, what: str) -> Question:
    """Which schedule is meant, and what would come of it. Raises DelayerError."""
    new = order.new_time if what == "move" else None
    one = await order.client.get(order.schedule_id)
    return Question(
        what=what,
        verb=what.capitalize(),
        button=f"{what.capitalize()} it",
        name=one.name or short(one.id),
        id=one.id,
        back=link(order.schedule_id),
        effect=EFFECTS[what],
        old=one.point_in_time,
        new=new,
        is_danger=what == "cancel",
    )


async def act(request: Request) -> Response:
    """Asks about something, and when that was answered, does it; shows the schedule with what came of that."""
    what = request.path_params["what"]
    does = DEEDS.get(what)
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
        if not order.form.get("sure"):
            return asked(request, await question(order, what), "schedules")
        outcome = await does(order)
    except NoAnswer as error:
        outcome = bad(order, str(error))
    except DelayerError as error:
        outcome = bad(order, f"Nothing was changed. {error}")
    say(request, outcome.message)
    return RedirectResponse(link(outcome.schedule_id), 303)
