"""Judges what waits for a person: dead letters, and schedules that are due but may not fire."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from delayer_client.operator.doctor.entry import Entry
from delayer_client.operator.doctor.facts import StoredFacts
from delayer_client.operator.doctor.finding import Finding, Severity

AREA: Final = "dead letters"
FLOW: Final = "flow"
SHOWN: Final = 20  # reasons among the figures
LONGEST: Final = 200  # characters of a reason
BOOKED: Final = 900  # seconds: longer than the delayer queue holds a message

NONE: Final = Entry(code="no-dead-letters", severity=Severity.OK, area=AREA, means="The dead-letter store is empty.")
WAIT: Final = Entry(
    code="dead-letters-wait",
    severity=Severity.WARNING,
    area=AREA,
    means="Schedules have become dead letters: malformed ones, or such that crash their function. They wait for you.",
    do="Read the reasons, remove the cause, then redrive or discard them.",
    link="operate/runbook.md#deadletteredalarm",
)
FAILED: Final = Entry(
    code="failed-schedules-stored",
    severity=Severity.NOTE,
    area=AREA,
    means="Schedules have failed, because their targets refused them or their attempts are used up. Bodies are kept.",
    do="Tell the owners of the targets, then redrive or discard.",
    link="operate/runbook.md#failedalarm",
)
SET_ASIDE: Final = Entry(
    code="stream-records-set-aside",
    severity=Severity.WARNING,
    area=AREA,
    means="Records of a stream were set aside, because they could not be handled. They are brought back by themselves.",
    do="If they stay for more than a quarter of an hour, read the warnings of stream-enqueuer.",
    link="operate/runbook.md#notbroughtbackalarm",
)
FREE: Final = Entry(
    code="flow-free", severity=Severity.OK, area=FLOW, means="Nothing is suspended, and no circuit is open."
)
SUSPENDED: Final = Entry(
    code="suspended",
    severity=Severity.NOTE,
    area=FLOW,
    means="An operator has suspended an owner, a target, or both: what is due for them waits.",
    do="Release it when the reason is gone.",
    link="use/flow.md#the-operators-command",
)
CIRCUIT: Final = Entry(
    code="circuit-open",
    severity=Severity.WARNING,
    area=FLOW,
    means="A target did not answer several times in a row, and is left alone for a while. Its schedules wait.",
    do="Tell the owner of the target. It is probed by itself; to close the circuit sooner is possible.",
    link="use/flow.md#circuits",
)
BOOKED_UP: Final = Entry(
    code="limit-booked-up",
    severity=Severity.WARNING,
    area=FLOW,
    means="More comes for a limited target than its rate allows: a new schedule waits for fifteen minutes or more.",
    do="Raise the limit, or have less scheduled for this target.",
    link="use/flow.md#limits",
)
MALFORMED: Final = Entry(
    code="flow-row-malformed",
    severity=Severity.WARNING,
    area=FLOW,
    means="A row about suspensions, circuits or limits cannot be read by this version: it has no effect.",
    do="If no newer version wrote it, discard it.",
    link="use/flow.md#the-operators-command",
)
ENTRIES: Final = (NONE, WAIT, FAILED, SET_ASIDE, FREE, SUSPENDED, CIRCUIT, BOOKED_UP, MALFORMED)
BY_PREFIX: Final = {"dead-lettered/": WAIT, "failed/": FAILED, "waiting/": SET_ASIDE, "aws/lambda/": SET_ASIDE}


def judge_dead_letters(facts: StoredFacts) -> Iterator[Finding]:
    """By the beginning of the key, with the most frequent reason."""
    more = "" if facts.is_whole else "at least "
    filled = {prefix: reasons for prefix, reasons in facts.reasons.items() if reasons}
    for prefix, reasons in filled.items():
        often = max(reasons, key=lambda reason: reasons[reason])
        number = sum(reasons.values())
        yield BY_PREFIX[prefix](
            f"Under {prefix} are {more}{number:,}; most often: {often[:LONGEST]}",
            about=prefix,
            number=number,
            reasons=_most_frequent(reasons),
        )
    if not filled:
        yield NONE("The dead-letter store is empty.")


def _most_frequent(reasons: Mapping[str, int]) -> dict[str, int]:
    """The first of them, each cut: a reason may quote whole answers. What becomes the same is counted together."""
    cut: Counter[str] = Counter()
    for reason in sorted(reasons, key=lambda reason: -reasons[reason])[:SHOWN]:
        cut[reason[:LONGEST]] += reasons[reason]
    return dict(cut)


def judge_flow(listed: Mapping[str, Any]) -> Iterator[Finding]:
    """Judges the list of operator-flow."""
    found = [
        *(
            SUSPENDED(f"{_party(one)} is suspended: {one.get('reason', '')}", about=_party(one), **one)
            for one in listed["suspensions"]
        ),
        *(
            CIRCUIT(
                f"The circuit of {_party(one)} is {one['state']}: {one.get('reason', '')}", about=_party(one), **one
            )
            for one in listed["circuits"]
        ),
        *(
            BOOKED_UP(
                f"A new schedule for {_party(one)} waits {one['bookedSeconds'] // 60:,} minutes.",
                about=_party(one),
                **one,
            )
            for one in listed["limits"]
            if one.get("bookedSeconds", 0) > BOOKED
        ),
        *(MALFORMED(f"The row {key} cannot be read.", about=key) for key in listed["malformed"]),
    ]
    yield from found or [FREE("Nothing is suspended, and no circuit is open.")]


def _party(one: Mapping[str, Any]) -> str:
    named = [f"{what} {one[what]}" for what in ("owner", "target") if one.get(what)]
    return " with ".join(named) or "everything"
