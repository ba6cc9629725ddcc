"""A target that is refused, and a schedule that fails and is redriven."""

import time
from typing import Any, Final

from delayer_client.operator.verify.api import now
from delayer_client.operator.verify.inbox import Inbox
from delayer_client.operator.verify.instants import SECOND, Millis
from delayer_client.operator.verify.results.findings import Finding, broken, held, unchecked
from delayer_client.operator.verify.session import Session

# Nobody listens there, and it is private in every network. Only a stack with AllowPrivateTargets=true tries it.
PRIVATE: Final = "http://127.0.0.1:9/delayer-verify"
AHEAD: Final[Millis] = 2 * SECOND
FAILED_WITHIN: Final = 60  # seconds
NEW_QUEUE: Final = 1.5  # seconds until SQS knows a queue that was just made
ARRIVED_WITHIN: Final = 60  # seconds
STORED_WITHIN: Final = 10  # seconds


def refused(session: Session) -> Finding:
    """A private address is not reached: the schedule fails, at its time and without a second attempt."""
    promise = "refused: a private target is not reached"
    if not session.has_action("http-request"):
        return unchecked(promise, "the parameter Actions leaves out http-request; --skip refused leaves this out, too")
    may_be_tried = session.setting("AllowPrivateTargets", "false") == "true"
    action = {"type": "http-request", "url": PRIVATE}
    schedule_id = session.schedule(now() + AHEAD, action, attempts=1 if may_be_tried else 3)
    shown = session.wait_for_state(schedule_id, "failed", FAILED_WITHIN)
    if shown.get("state") != "failed":
        return broken(promise, f"it is {shown.get('state')}: {shown.get('detail', '')}")
    session.live.discard(schedule_id)
    session.dead_letters.add(schedule_id)
    session.bill.dead_letters += 1
    if shown.get("attempt", 1) != 1 or shown.get("latenessMs", 0) < 0:
        return broken(promise, f"attempt {shown.get('attempt')}, {shown.get('latenessMs')} ms late")
    if may_be_tried:
        return held(
            "refused: a target that cannot be reached fails", f"AllowPrivateTargets=true; {shown.get('detail')}"
        )
    return held(promise, str(shown.get("detail")))


def redriven(session: Session, late_queue: Inbox) -> Finding:
    """Its queue is missing: it fails, and its body is stored. Then the queue is made, and the redrive fires it once."""
    promise = "redrive: what failed is stored, and fires by command"
    schedule_id = session.schedule(now() + AHEAD, missing_queue(session, late_queue.name), attempts=2)
    shown = session.wait_for_state(schedule_id, "failed", FAILED_WITHIN)
    session.bill.retries += 1
    if shown.get("state") != "failed":
        return broken(promise, f"it is {shown.get('state')}: {shown.get('detail', '')}")
    session.dead_letters.add(schedule_id)
    session.bill.dead_letters += 1
    late_queue.open()
    time.sleep(NEW_QUEUE)
    if (key := stored(session, schedule_id)) is None:
        return broken(promise, "it failed, but nothing is stored under its id")
    outcomes = [one["outcome"] for one in session.operate("redrive", key=key)["schedules"]]
    if outcomes != ["redriven"]:
        return broken(promise, f"the redrive answered {', '.join(outcomes) or 'nothing'}")
    late_queue.wait_for([schedule_id], ARRIVED_WITHIN)
    shown = session.wait_for_state(schedule_id, "executed", ARRIVED_WITHIN)
    arrived = len(late_queue.arrivals().get(schedule_id, []))
    session.live.discard(schedule_id)
    if (arrived, shown.get("state")) != (1, "executed"):
        return broken(promise, f"it arrived {arrived} times and is {shown.get('state')}: {shown.get('detail', '')}")
    session.dead_letters.discard(schedule_id)
    return held(promise, "failed, stored, redriven, executed once")


def missing_queue(session: Session, name: str) -> dict[str, Any]:
    """The action: a queue beside the one of the run, which is not made yet."""
    assert session.inbox is not None
    return {"type": "sqs-send", "queueUrl": session.inbox.url.rpartition("/")[0] + f"/{name}"}


def stored(session: Session, schedule_id: str) -> str | None:
    """The key of its body, once the list shows it."""
    deadline = time.monotonic() + STORED_WITHIN
    while (key := session.key_of_dead_letter(schedule_id)) is None and time.monotonic() < deadline:
        time.sleep(1)
    return key
