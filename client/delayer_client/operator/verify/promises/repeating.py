"""A series fires again: its occurrences come by themselves, a minute apart, and none after its DELETE."""

import time
from http import HTTPStatus
from typing import Any, Final

from delayer_client.operator.verify.api import now
from delayer_client.operator.verify.inbox import Inbox
from delayer_client.operator.verify.instants import MINUTE, SECOND, Millis, format_instant, parse_instant
from delayer_client.operator.verify.results.findings import Finding, Outcome, broken, held, of_firing, unchecked
from delayer_client.operator.verify.session import POLL, Session, Unexpected

AHEAD: Final[Millis] = 3 * SECOND
GRACE: Final = 60  # seconds
PROMISE: Final = "series: fires each minute until it is deleted"


def repeating(session: Session, inbox: Inbox) -> Finding:
    """Two occurrences of one series are seen, and then it is deleted. Errors: Unexpected, NoAnswer."""
    first_at = now() + AHEAD
    repeat = {"every": "PT1M", "anchor": format_instant(first_at), "from": format_instant(first_at)}
    body = {"repeat": repeat, "action": inbox.action(), "payload": {"verify": session.run}}
    answer = session.api.post("/series", body, f"verify-{session.run}-series")
    if answer.status == HTTPStatus.CONFLICT:
        return unchecked(PROMISE, f"no series can be made: {answer.why()}")
    if answer.status != HTTPStatus.CREATED:
        raise Unexpected(f"POST /series was answered {answer.why()}")
    series = str(answer.content["seriesId"])
    session.series.add(series)
    due = _noted(session, answer.content)
    inbox.wait_for(due, AHEAD / SECOND + GRACE)
    second = _noted(session, wait_for_number(session, series, 2))
    if not second:
        return broken(PROMISE, "its second occurrence was not put")
    inbox.wait_for(second, MINUTE / SECOND + GRACE)
    third = _noted(session, wait_for_number(session, series, 3))
    return _deleted(session, inbox, series, due | second, third)


def wait_for_number(session: Session, series: str, number: int) -> dict[str, Any]:
    """Returns the answer of GET about the series, once it has come to this occurrence; nothing if it does not."""
    deadline = time.monotonic() + GRACE
    while True:
        shown = session.api.get(f"/series/{series}").content
        if shown.get("occurrence", {}).get("number", 0) >= number:
            return shown
        if time.monotonic() > deadline:
            return {}
        time.sleep(POLL)


def _noted(session: Session, shown: dict[str, Any]) -> dict[str, Millis]:
    """The current occurrence and when it is due; nothing if there is none."""
    current = shown.get("occurrence")
    if not current:
        return {}
    session.bill.schedules += 1
    return {str(current["scheduleId"]): parse_instant(current["pointInTime"])}


def _deleted(session: Session, inbox: Inbox, series: str, due: dict[str, Millis], last: dict[str, Millis]) -> Finding:
    """The two that fired, judged like any others; the third must not arrive any more."""
    answer = session.api.delete(f"/series/{series}")
    if answer.status != HTTPStatus.OK:
        return broken(PROMISE, f"its DELETE was answered {answer.why()}")
    session.series.discard(series)
    session.must_not_arrive |= last.keys()
    finding, lateness = of_firing("series", due, inbox.arrivals(), session.options.allowed_ms)
    session.lateness += [lateness] if lateness else []
    if finding.outcome is Outcome.BROKEN:
        return finding
    return held(PROMISE, f"{len(due)} occurrences, each within {session.options.allowed_ms} ms; then deleted")
