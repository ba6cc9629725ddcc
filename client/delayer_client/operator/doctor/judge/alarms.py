"""The alarms: which ring, and whether anybody hears them."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from delayer_client.operator.doctor.entry import Entry
from delayer_client.operator.doctor.facts import Alarm, AlarmFacts, Unseen
from delayer_client.operator.doctor.finding import Finding, Severity
from delayer_client.operator.doctor.runbook import anchor_of

AREA: Final = "alarms"
ENTRY_OF: Final = re.compile(r"Runbook: (\w+)\.")

QUIET: Final = Entry(code="alarms-quiet", severity=Severity.OK, area=AREA, means="No alarm rings.")
HEARD: Final = Entry(
    code="alarms-heard", severity=Severity.OK, area=AREA, means="The alarm topic has a confirmed subscriber."
)
RINGS: Final = Entry(
    code="alarm-rings",
    severity=Severity.PROBLEM,
    area=AREA,
    means="An alarm is in the state ALARM, or rings by silence: its metric has no data.",
    do="Read its entry in the runbook.",
    link="operate/runbook.md",
)
UNHEARD: Final = Entry(
    code="alarms-unheard",
    severity=Severity.WARNING,
    area=AREA,
    means="Nobody has confirmed a subscription of the alarm topic: alarms ring, and nobody hears them.",
    do="Set the parameter AlarmEmail and confirm the mail, or subscribe to the output AlarmTopic.",
    link="operate/operations.md#alarms",
)
UNHEARD_HERE: Final = Entry(
    code="alarms-unheard-here",
    severity=Severity.NOTE,
    area=AREA,
    means="On one machine nobody is subscribed to the alarms, as a rule.",
    do="Nothing. On AWS it would be the warning alarms-unheard.",
    link="operate/operations.md#alarms",
)
SILENCED: Final = Entry(
    code="alarm-silenced",
    severity=Severity.WARNING,
    area=AREA,
    means="The actions of an alarm are disabled, or it has none: it tells nobody.",
    do="Enable them: aws cloudwatch enable-alarm-actions --alarm-names NAME.",
    link="operate/operations.md#alarms",
)
ENTRIES: Final = (QUIET, HEARD, RINGS, UNHEARD, UNHEARD_HERE, SILENCED)


def judge(facts: AlarmFacts) -> Iterator[Finding]:
    """Judges alarms that ring or are silenced, and their subscribers. Another judge tells of unseen parts."""
    if not isinstance(facts.alarms, Unseen):
        yield from _alarms(facts.alarms)
    if isinstance(facts.subscribers, Unseen):
        return
    if facts.subscribers:
        yield HEARD(f"The alarm topic has {facts.subscribers} confirmed subscribers.", subscribers=facts.subscribers)
    else:
        entry = UNHEARD_HERE if facts.is_local else UNHEARD
        yield entry("Nobody has confirmed a subscription of the alarm topic.", subscribers=0)


def _alarms(alarms: Sequence[Alarm]) -> Iterator[Finding]:
    ringing = [one for one in alarms if one.state == "ALARM" or one.is_silent]
    for one in ringing:
        named = ENTRY_OF.search(one.description)
        link = anchor_of(named[1]) if named else ""
        what = ENTRY_OF.sub("", one.description).strip() or one.reason
        yield RINGS(f"{one.name} rings: {what}", about=one.name, link=link, since=one.since, reason=one.reason)
    for one in alarms:
        if not (one.is_enabled and one.topics):
            yield SILENCED(f"{one.name} tells nobody: its actions are disabled.", about=one.name)
    if not ringing:
        without = sum(one.state == "INSUFFICIENT_DATA" for one in alarms)
        yield QUIET(
            f"None of {len(alarms)} alarms rings; {without} have no data yet.", number=len(alarms), withoutData=without
        )
