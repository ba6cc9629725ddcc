"""The stack as a whole, and the tasks of each minute."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from delayer_client.operator.doctor.entry import Entry
from delayer_client.operator.doctor.facts import StackFacts, TickFacts, TickRows, Unseen
from delayer_client.operator.doctor.finding import Finding, Severity

STACK: Final = "stack"
AREA: Final = "ticks"
LATE: Final = timedelta(minutes=3)  # as MinuteTaskMissingAlarm, and as the heartbeat's freshness
NEW: Final = timedelta(minutes=5)
BEHIND: Final = timedelta(minutes=20)  # ten are normal

IN_ORDER: Final = Entry(
    code="stack-in-order", severity=Severity.OK, area=STACK, means="CloudFormation has completed the stack."
)
CHANGING: Final = Entry(
    code="stack-changing",
    severity=Severity.NOTE,
    area=STACK,
    means="CloudFormation is just changing the stack.",
    do="Wait until it is done, and look again.",
)
NOT_COMPLETE: Final = Entry(
    code="stack-not-complete",
    severity=Severity.WARNING,
    area=STACK,
    means="The last deployment did not end as it should: it failed, or was rolled back.",
    do="Read the events of the stack in CloudFormation, remove the cause, and deploy again.",
    link="operate/upgrade.md",
)
RUN: Final = Entry(code="ticks-run", severity=Severity.OK, area=AREA, means="The minute task runs, and sweeps.")
NOT_YET: Final = Entry(
    code="ticks-not-yet",
    severity=Severity.NOTE,
    area=AREA,
    means="The stack is a few minutes old, and has had no tick yet.",
    do="Look again in a few minutes.",
)
SWITCHED_OFF: Final = Entry(
    code="tick-switched-off",
    severity=Severity.PROBLEM,
    area=AREA,
    means="The rule in EventBridge that starts the tasks of each minute is disabled, or gone.",
    do="Enable the rule in EventBridge; if it is gone, deploy the template again.",
    link="operate/runbook.md#minutetaskmissingalarm",
)
TICK_LATE: Final = Entry(
    code="tick-late",
    severity=Severity.PROBLEM,
    area=AREA,
    means="No tick has left a sign for three minutes: what is further ahead than the delayer period will be late.",
    do="See whether task-1minute-enqueuer is throttled or fails, and enable its rule. The next tick catches up.",
    link="operate/runbook.md#minutetaskmissingalarm",
)
HELD: Final = Entry(
    code="sweep-held",
    severity=Severity.PROBLEM,
    area=AREA,
    means="Ticks run but do not sweep: their heartbeats do not come back through the stream, or the relay is behind.",
    do="Look at stream-enqueuer and its event source mapping, then at delayer-relay. Nothing is lost meanwhile.",
    link="operate/runbook.md#sweepheldalarm",
)
OLD_MINUTES: Final = Entry(
    code="sweep-behind",
    severity=Severity.WARNING,
    area=AREA,
    means="The sweep has not closed a minute that is more than twenty minutes old; ten are normal.",
    do="Look for `bucket not swept` in the log of task-1minute-enqueuer. After an outage it is normal for a while.",
    link="operate/runbook.md#minutetaskerrorsalarm",
)
ENTRIES: Final = (
    IN_ORDER,
    CHANGING,
    NOT_COMPLETE,
    RUN,
    NOT_YET,
    SWITCHED_OFF,
    TICK_LATE,
    HELD,
    OLD_MINUTES,
)


def judge_stack(facts: StackFacts) -> Iterator[Finding]:
    """Its status."""
    if facts.status.endswith("_IN_PROGRESS"):
        yield CHANGING(f"The stack {facts.name} is {facts.status}.", status=facts.status)
    elif facts.status in ("CREATE_COMPLETE", "UPDATE_COMPLETE", "IMPORT_COMPLETE"):
        yield IN_ORDER(f"The stack {facts.name} is {facts.status}.", status=facts.status)
    else:
        why = f": {facts.reason}" if facts.reason else ""
        yield NOT_COMPLETE(f"The stack {facts.name} is {facts.status}{why}.", status=facts.status)


def judge(facts: TickFacts, now: datetime) -> Iterator[Finding]:
    """Finds what is switched off, and whether the ticks leave their signs. Unseen parts are told by another."""
    if not isinstance(facts.rule, Unseen) and facts.rule.state != "ENABLED":
        yield SWITCHED_OFF(
            f"The rule {facts.rule.name} is {facts.rule.state.lower() or 'gone'}.", about=facts.rule.name
        )
    if not isinstance(facts.rows, Unseen):
        yield from _signs(facts.rows, facts.created_at, now)


def _signs(rows: TickRows, created_at: datetime, now: datetime) -> Iterator[Finding]:
    signs = [sign for sign in (rows.swept_at, rows.heartbeat_at, *rows.awaited) if sign]
    if not signs:
        entry = NOT_YET if now - created_at < NEW else TICK_LATE
        yield entry("No tick of the minute task has left a sign yet.")
        return
    last = max(signs)
    if stuck := _stuck(rows, now):
        yield HELD(stuck, lastSign=last.isoformat())
    elif now - last > LATE:
        yield TICK_LATE(f"The last sign of a tick is {_ago(now - last)} old.", lastSign=last.isoformat())
    elif rows.closed_until and now - rows.closed_until > BEHIND:
        yield OLD_MINUTES(
            f"The oldest minute that is not closed is {_ago(now - rows.closed_until)} old.",
            closedUntil=rows.closed_until.isoformat(),
        )
    else:
        yield RUN(f"The last sign of a tick is {_ago(now - last)} old.", lastSign=last.isoformat())


def _stuck(rows: TickRows, now: datetime) -> str:
    """Why ticks that run do not sweep; empty if they do, or do not run."""
    if rows.awaited and now - min(rows.awaited) > LATE:
        return f"A heartbeat of {_ago(now - min(rows.awaited))} ago has not come back through the stream."
    if rows.swept_at and rows.heartbeat_at and rows.heartbeat_at - rows.swept_at > LATE:
        return f"Ticks run, but the last that swept was {_ago(now - rows.swept_at)} ago."
    return ""


def _ago(age: timedelta) -> str:
    seconds = max(round(age.total_seconds()), 0)
    return f"{seconds} s" if seconds < 120 else f"{seconds // 60:,} min"
