"""The canary arrives every few minutes, near and far, and somebody would hear it if it did not."""

import time
from collections.abc import Sequence
from typing import Final

from delayer_client.operator.verify.account import Account, CanaryAlarm
from delayer_client.operator.verify.results.findings import Finding, broken, held, unchecked
from delayer_client.operator.verify.session import Session

POLL: Final = 10.0  # seconds
ARRIVES: Final = "canary: it arrives, and is measured"
IS_HEARD: Final = "canary: its alarms reach somebody"


def canary(session: Session, account: Account, poll_seconds: float = POLL) -> list[Finding]:
    """Its figures, its alarms, and who hears them. A stack that is new has no figures of the far one yet."""
    if session.setting("Canary", "on") == "off":
        return [unchecked(ARRIVES, "the parameter Canary switches it off; --skip canary leaves this part out")]
    deadline = time.monotonic() + session.options.canary_seconds
    alarms = account.canary_alarms()
    while alarms and not all(is_well(alarm) for alarm in alarms) and time.monotonic() < deadline:
        time.sleep(poll_seconds)
        alarms = account.canary_alarms()
    if not alarms:
        return [unchecked(ARRIVES, "the stack has no alarm whose name begins with Canary")]
    return [_arrives(alarms, session.period // 1000), _is_heard(account, alarms)]


def is_well(alarm: CanaryAlarm) -> bool:
    """Whether the alarm has figures, and does not ring."""
    return bool(alarm.figures) and alarm.state != "ALARM"


def _arrives(alarms: Sequence[CanaryAlarm], period_seconds: int) -> Finding:
    missing = sorted({alarm.metric for alarm in alarms if not alarm.figures})
    ringing = sorted(alarm.name for alarm in alarms if alarm.state == "ALARM")
    seen = {alarm.metric: max(alarm.figures) for alarm in alarms if alarm.figures}
    shown = ", ".join(f"{metric} at most {figure:.0f} ms" for metric, figure in sorted(seen.items()))
    if missing:
        soonest = f"in a new stack the far one has its first after {period_seconds + 240} s"
        return broken(ARRIVES, f"no figure of {', '.join(missing)} in fifteen minutes; {soonest}")
    return broken(ARRIVES, f"{', '.join(ringing)} rings; {shown}") if ringing else held(ARRIVES, shown)


def _is_heard(account: Account, alarms: Sequence[CanaryAlarm]) -> Finding:
    silent = [alarm.name for alarm in alarms if not (alarm.topics and alarm.is_enabled)]
    if silent:
        return broken(IS_HEARD, f"{', '.join(silent)}: no action that is enabled")
    deaf = [
        topic for topic in {topic for one in alarms for topic in one.topics} if not account.confirmed_subscribers(topic)
    ]
    if deaf:
        return broken(
            IS_HEARD, "nobody has confirmed a subscription of the alarm topic: set AlarmEmail, confirm the mail"
        )
    return held(IS_HEARD, "its topic has a confirmed subscriber")
