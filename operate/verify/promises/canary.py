"""The canary fires every minute, and somebody would be told if it did not."""

import time
from typing import Final

from operate.verify.account import Account, CanaryAlarm
from operate.verify.results.findings import Finding, broken, held, unchecked
from operate.verify.session import Session

POLL: Final = 10.0  # seconds
FRESH: Final = 2  # figures that are enough


def canary(session: Session, account: Account, sleep_seconds: float = POLL) -> list[Finding]:
    """Its figures, its alarm, and who is told of the alarm."""
    promise = "canary: it arrives, and is measured"
    if session.setting("Canary", "on") in ("off", "false"):
        return [unchecked(promise, "the parameter Canary switches it off; leave this part out with --skip canary")]
    deadline = time.monotonic() + session.options.canary_seconds
    alarm = account.canary_alarm()
    while alarm is not None and len(alarm.figures) < FRESH and time.monotonic() < deadline:
        time.sleep(sleep_seconds)
        alarm = account.canary_alarm()
    if alarm is None:
        return [unchecked(promise, "the stack has no alarm whose name begins with Canary")]
    return [_figures(promise, alarm), _heard(account, alarm)]


def _figures(promise: str, alarm: CanaryAlarm) -> Finding:
    if not alarm.figures:
        return broken(promise, f"CloudWatch has no figure of the last fifteen minutes; {alarm.name} is {alarm.state}")
    highest = f"{len(alarm.figures)} figures in fifteen minutes, at most {max(alarm.figures):.0f}"
    seen = f"{highest}; {alarm.name} is {alarm.state}"
    return broken(promise, seen) if alarm.state == "ALARM" else held(promise, seen)


def _heard(account: Account, alarm: CanaryAlarm) -> Finding:
    promise = "canary: its alarm reaches somebody"
    if not (alarm.topics and alarm.is_enabled):
        return broken(promise, f"{alarm.name} has no action that is enabled")
    subscribers = sum(account.confirmed_subscribers(topic) for topic in alarm.topics)
    if not subscribers:
        return broken(
            promise, "nobody has confirmed a subscription of the alarm topic: set AlarmEmail and confirm the mail"
        )
    return held(promise, f"{subscribers} confirmed")
