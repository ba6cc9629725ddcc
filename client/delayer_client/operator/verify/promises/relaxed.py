"""The relaxed lane: it is switched on, accepts, and cancels. When DynamoDB's TTL fires, nobody can wait for here."""

from http import HTTPStatus
from typing import Final

from delayer_client.operator.verify.api import now
from delayer_client.operator.verify.inbox import Inbox
from delayer_client.operator.verify.instants import HOUR, Millis
from delayer_client.operator.verify.results.findings import Finding, broken, held, unchecked
from delayer_client.operator.verify.session import Session, Unexpected

AHEAD: Final[Millis] = HOUR
RELAXED: Final = "relaxed"  # in the parameter Lanes
ON_THIS_MACHINE: Final = ("http://localhost", "http://127.0.0.1")  # where `make local-aws` plays the TTL itself


def relaxed(session: Session, inbox: Inbox) -> list[Finding]:
    """Without its TTL nothing would ever fire there."""
    found = [is_cancelled(session, inbox)]
    is_played = session.options.url.startswith(ON_THIS_MACHINE)
    return found if is_played else [*found, expires(session)]


def expires(session: Session) -> Finding:
    """As DynamoDB says."""
    promise = "relaxed: the TTL of its table is on"
    if session.account is None:
        return unchecked(promise, session.why_no_account)
    state = session.account.ttl_of("RelaxedTable")
    if state == "ENABLED expiresAt":
        return held(promise, state)
    return broken(promise, f"it is {state}: nothing in the relaxed lane fires")


def is_cancelled(session: Session, inbox: Inbox) -> Finding:
    """One in an hour is shown in its lane, and cancelled."""
    promise = "relaxed: a schedule is accepted and cancelled"
    body = {**session.body(now() + AHEAD, inbox.action()), "precision": "relaxed"}
    answer = session.api.post("/schedules", body, f"verify-{session.run}-relaxed")
    if answer.status != HTTPStatus.CREATED:
        raise Unexpected(f"POST /schedules was answered {answer.why()}")
    schedule_id = session.accepted(answer.content)
    before = session.api.get(f"/schedules/{schedule_id}").content
    status = session.api.delete(f"/schedules/{schedule_id}").status
    after = session.api.get(f"/schedules/{schedule_id}").content.get("state")
    if status == HTTPStatus.OK:
        session.must_not_arrive.add(schedule_id)
        session.live.discard(schedule_id)
        session.bill.cancels += 1
    found = (before.get("state"), before.get("precision"), status, after)
    if found == ("scheduled", "relaxed", HTTPStatus.OK, "cancelled"):
        return held(promise, "scheduled, then cancelled")
    return broken(promise, "it was {}, in the lane {}; its cancel was answered {}, and it is {}".format(*found))
