"""Near, far and in bulk: a schedule fires once, not before its point in time and not much later."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from delayer_client.operator.verify.api import now
from delayer_client.operator.verify.inbox import Inbox
from delayer_client.operator.verify.instants import SECOND, Millis, minute_of, start_of
from delayer_client.operator.verify.results.findings import Finding, broken, of_firing
from delayer_client.operator.verify.session import Session

AHEAD: Final[Millis] = 3 * SECOND
SINGLE: Final = 5  # schedules of the near and of the far part
GRACE: Final = 60  # seconds after the last point in time; what has not arrived by then counts as lost
IN_BULK: Final = 5  # times as late as a single schedule: a hundred at one instant wake up many functions
POSTED_WITHIN: Final[Millis] = 10 * SECOND  # the far ones; so much earlier than the edge of the delayer period


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """Schedules that were created, and are to be looked at later."""

    part: str
    due: dict[str, Millis]
    allowed_ms: Millis

    def look(self, session: Session, inbox: Inbox) -> Finding:
        """Wait for all of them, and judge."""
        seconds = (max(self.due.values()) - now()) / SECOND + GRACE
        inbox.wait_for(self.due, seconds)
        finding, lateness = of_firing(self.part, self.due, inbox.arrivals(), self.allowed_ms)
        session.lateness += [lateness] if lateness else []
        return finding


def warm_up(session: Session, inbox: Inbox) -> None:
    """Two schedules that are not judged: the first ones of a new stack wait for functions that start."""
    posted = [session.schedule(now() + SECOND, inbox.action()) for _ in range(2)]
    inbox.wait_for(posted, GRACE)


def near(session: Session, inbox: Inbox) -> Waiting:
    """Within the delayer period: the fast track."""
    dues = [now() + AHEAD + number * 300 for number in range(SINGLE)]
    posted = {session.schedule(due, inbox.action()): due for due in dues}
    return Waiting(part="near", due=posted, allowed_ms=session.options.allowed_ms)


def far(session: Session, inbox: Inbox) -> Waiting:
    """Beyond the delayer period: the minute task moves them. They begin with the first instant that it may take."""
    first = start_of(minute_of(now() + POSTED_WITHIN + session.period) + 1)
    posted = {session.schedule(first + number * 250, inbox.action()): first + number * 250 for number in range(SINGLE)}
    return Waiting(part="far", due=posted, allowed_ms=session.options.allowed_ms)


def seconds_of_far(period: Millis) -> int:
    """How long the far part takes at most."""
    return (period + POSTED_WITHIN) // SECOND + 120


def bulk(session: Session, inbox: Inbox) -> Waiting | Finding:
    """One call with many, all due at one instant."""
    due = now() + 2 * AHEAD
    number = session.options.bulk
    bodies = [session.body(due, inbox.action(), at) for at in range(number)]
    answer = session.api.post("/schedules/batch", {"schedules": bodies})
    results = answer.content.get("results", [])
    refused = [result for result in results if result["status"] != HTTPStatus.CREATED]
    posted = {session.accepted(one["schedule"]): due for one in results if one["status"] == HTTPStatus.CREATED}
    if answer.status != HTTPStatus.OK or refused or len(posted) != number:
        why = refused[0].get("problem", {}).get("detail", "") if refused else answer.why()
        return broken("bulk: a batch is accepted", f"{len(posted)} of {number} were accepted: {why}")
    return Waiting(part="bulk", due=posted, allowed_ms=IN_BULK * session.options.allowed_ms)
