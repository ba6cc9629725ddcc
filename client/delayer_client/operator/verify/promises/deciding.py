"""A time that a policy decides: the schedule has it soon after it was accepted, and is cancelled by its first id."""

import time
from http import HTTPStatus
from typing import Any, Final

from delayer_client.operator.verify.api import now
from delayer_client.operator.verify.inbox import Inbox
from delayer_client.operator.verify.instants import DAY, HOUR, Millis, format_instant, minute_of
from delayer_client.operator.verify.results.findings import Finding, broken, held, unchecked
from delayer_client.operator.verify.session import POLL, Session, Unexpected

GRACE: Final = 60  # seconds
DAYS_AHEAD: Final = 2  # nothing fires while this is checked
OPENS: Final[Millis] = 12 * HOUR  # of that day
DAYS: Final = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
POLICY: Final = "next-business-hour"
PROMISE: Final = "policies: a time is decided, and cancelled"


def deciding(session: Session, inbox: Inbox) -> Finding:
    """One that is due when the business hours of the day after tomorrow begin. Errors: Unexpected, NoAnswer."""
    opens = now() // DAY * DAY + DAYS_AHEAD * DAY + OPENS
    body = {**session.body(opens, inbox.action()), "when": when(opens)}
    del body["pointInTime"]
    answer = session.api.post("/schedules", body, f"verify-{session.run}-policies")
    if answer.status == HTTPStatus.UNPROCESSABLE_ENTITY:
        return unchecked(PROMISE, f"the policy is not there: {answer.why()}")
    if answer.status != HTTPStatus.CREATED:
        raise Unexpected(f"POST /schedules was answered {answer.why()}")
    accepted = session.accepted(answer.content)
    shown = wait_for_decision(session, accepted)
    status = session.api.delete(f"/schedules/{accepted}").status
    if status == HTTPStatus.OK:
        session.must_not_arrive |= {accepted, str(shown.get("decidedAs", accepted))}
        session.live.discard(accepted)
        session.bill.cancels += 1
    return judged(shown, opens, status)


def when(opens: Millis) -> dict[str, Any]:
    """Business hours of one day only. The first day of 1970 was a Thursday."""
    day = DAYS[(minute_of(opens) // (24 * 60) + 3) % len(DAYS)]
    return {"policy": POLICY, "timeZone": "UTC", "hours": {day: ["12:00-13:00"]}}


def wait_for_decision(session: Session, schedule_id: str) -> dict[str, Any]:
    """Returns the answer of GET about it, once it is decided, or when the time is over."""
    deadline = time.monotonic() + GRACE
    while True:
        shown = session.api.get(f"/schedules/{schedule_id}").content
        if shown.get("state") != "undecided" or time.monotonic() > deadline:
            return shown
        time.sleep(POLL)


def judged(shown: dict[str, Any], opens: Millis, status: int) -> Finding:
    """Judges its time, and the answer to its cancel."""
    if shown.get("state") == "undecided":
        return broken(PROMISE, f"no time was decided within {GRACE} s")
    if shown.get("state") != "scheduled":
        return broken(PROMISE, f"it is {shown.get('state')}: {shown.get('detail', 'no reason is given')}")
    if shown.get("pointInTime") != format_instant(opens):
        return broken(PROMISE, f"it is due {shown.get('pointInTime')}, and not {format_instant(opens)}")
    if status != HTTPStatus.OK:
        return broken(PROMISE, f"its cancel was answered {status}")
    return held(PROMISE, f"it is due {format_instant(opens)}, then cancelled")
