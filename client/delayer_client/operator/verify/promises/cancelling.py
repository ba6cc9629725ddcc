"""A cancel tells the truth, also in the moment of the claim: 200 and never fired, or 409 and handed over."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from delayer_client.operator.verify.api import now
from delayer_client.operator.verify.inbox import Inbox
from delayer_client.operator.verify.instants import SECOND, Millis
from delayer_client.operator.verify.results.findings import Finding, broken, held
from delayer_client.operator.verify.session import Session

RACES: Final = 24
AHEAD: Final[Millis] = 4 * SECOND
APART: Final[Millis] = 100
BEFORE_CLAIM: Final[Millis] = (
    500  # the earliest cancel comes so long before the earliest claim, the latest one after it
)
GRACE: Final = 60  # seconds


@dataclass(frozen=True, kw_only=True)
class Race:
    """One schedule and when its cancel is sent."""

    schedule_id: str
    due: Millis
    cancelled_at: Millis


def races(session: Session, inbox: Inbox) -> Finding:
    """Cancels at, before and after the instants at which the schedules are claimed."""
    lead = int(session.setting("HandoverLead", "500"))
    begun = now() + AHEAD
    planned = [begun + number * APART for number in range(RACES)]
    entered = [
        Race(schedule_id=session.schedule(due, inbox.action()), due=due, cancelled_at=due - before(number, lead))
        for number, due in enumerate(planned)
    ]
    with ThreadPoolExecutor(max_workers=RACES) as threads:
        answers = list(threads.map(lambda race: cancel(session, race), entered))
    cancelled = {race.schedule_id for race, status in zip(entered, answers, strict=True) if status == HTTPStatus.OK}
    too_late = {
        race.schedule_id for race, status in zip(entered, answers, strict=True) if status == HTTPStatus.CONFLICT
    }
    session.must_not_arrive |= cancelled
    session.live -= cancelled
    session.bill.cancels += len(cancelled)
    missing = inbox.wait_for(too_late, (max(planned) - now()) / SECOND + GRACE)
    return judged(answers, too_late, missing, set(inbox.arrivals()) & cancelled)


def before(number: int, lead: Millis) -> Millis:
    """How long before its point in time a cancel is sent: evenly from well before the first claim to well after it."""
    return lead + BEFORE_CLAIM - number * (lead + 2 * BEFORE_CLAIM) // (RACES - 1)


def cancel(session: Session, race: Race) -> int:
    """Send it at its instant; the status."""
    time.sleep(max(race.cancelled_at - now(), 0) / SECOND)
    return session.api.delete(f"/schedules/{race.schedule_id}").status


def judged(answers: list[int], too_late: set[str], missing: set[str], fired: set[str]) -> Finding:
    """Judges all races. `missing` were answered 409 and did not arrive, `fired` were answered 200 and did."""
    promise = "races: a cancel tells the truth"
    cancelled, late = answers.count(HTTPStatus.OK), len(too_late)
    others = sorted({str(status) for status in answers if status not in (HTTPStatus.OK, HTTPStatus.CONFLICT)})
    if others:
        return broken(promise, f"cancels were answered {', '.join(others)}")
    if fired:
        return broken(promise, f"{len(fired)} of {cancelled} were answered 200 and fired")
    if missing:
        return broken(promise, f"{len(missing)} of {late} were answered 409 and did not arrive")
    return held(promise, f"{cancelled} × 200 and never fired, {late} × 409 and arrived")


def never_fired(session: Session, inbox: Inbox) -> Finding:
    """At the end of the run: what was answered 200 has still not arrived, and is shown as cancelled."""
    promise = "races: what is cancelled stays so"
    fired = set(inbox.arrivals()) & session.must_not_arrive
    shown = [session.api.get(f"/schedules/{one}").content.get("state") for one in sorted(session.must_not_arrive)]
    others = sorted({str(state) for state in shown if state != "cancelled"})
    if fired or others:
        return broken(promise, f"{len(fired)} fired; shown as {', '.join(others) or 'cancelled'}")
    return held(promise, f"{len(shown)} still cancelled at the end")
