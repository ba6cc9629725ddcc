"""Judges what the account allows, and what its functions have met."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from delayer_client.operator.doctor.entry import Entry
from delayer_client.operator.doctor.facts import AccountFacts, FunctionFacts, Unseen
from delayer_client.operator.doctor.finding import Finding, Severity

AREA: Final = "concurrency"
FUNCTIONS: Final = "functions"
NEARLY: Final = 0.8
QUOTAS: Final = "how-it-works/scale.md#what-to-ask-aws-for"

ENOUGH: Final = Entry(
    code="concurrency-enough",
    severity=Severity.OK,
    area=AREA,
    means="The account lets as many functions run at a time as the stack's Scale needs.",
)
TOO_LOW: Final = Entry(
    code="concurrency-too-low",
    severity=Severity.WARNING,
    area=AREA,
    means="The account lets fewer functions run at a time than the stack's Scale needs: under load schedules are late.",
    do="Ask AWS for more: Service Quotas, AWS Lambda, Concurrent executions.",
    link=QUOTAS,
)
ASKED: Final = Entry(
    code="concurrency-asked-for",
    severity=Severity.NOTE,
    area=AREA,
    means="The account allows too little, and AWS was asked for enough, but has not decided yet.",
    do="Wait for AWS.",
    link=QUOTAS,
)
RESERVED: Final = Entry(
    code="concurrency-reserved",
    severity=Severity.WARNING,
    area=AREA,
    means="The account allows enough, but other functions have reserved so much that too little is left.",
    do="Release reserved concurrency of other functions, or ask AWS for more.",
    link=QUOTAS,
)
NEARLY_USED: Final = Entry(
    code="concurrency-nearly-used",
    severity=Severity.WARNING,
    area=AREA,
    means="In the last quarter of an hour more than four fifths of the account's concurrency were in use.",
    do="See what runs; lower RelayConcurrency or ExecutorConcurrency, or ask AWS for more.",
    link=QUOTAS,
)
WELL: Final = Entry(
    code="functions-well",
    severity=Severity.OK,
    area=FUNCTIONS,
    means="No function failed or was throttled in the last quarter of an hour.",
)
FAIL: Final = Entry(
    code="function-fails",
    severity=Severity.WARNING,
    area=FUNCTIONS,
    means="Invocations of a function ended with an error in the last quarter of an hour.",
    do="Look into its log for lines of the levels ERROR and WARNING.",
    link="operate/operations.md#logs",
)
THROTTLED: Final = Entry(
    code="function-throttled",
    severity=Severity.WARNING,
    area=FUNCTIONS,
    means="Lambda refused invocations of a function in the last quarter of an hour, because too many ran.",
    do="Raise the concurrency of the account, or lower that of others. What was refused is tried again.",
    link=QUOTAS,
)
STRAY: Final = Entry(
    code="url-stray-percent",
    severity=Severity.WARNING,
    area=FUNCTIONS,
    means="Attempts went to a URL with a `%` that begins no escape. New ones are refused, stored ones have %25 there.",
    do="The log of executor-http-request has the ids. Tell the owners of these schedules: % is written %25.",
    link="operate/operations.md#logs",
)
ENTRIES: Final = (ENOUGH, TOO_LOW, ASKED, RESERVED, NEARLY_USED, WELL, FAIL, THROTTLED, STRAY)


def judge(facts: AccountFacts) -> Iterator[Finding]:
    """Compares what may run with what the stack needs, and with what has run. Unseen parts are told by another."""
    if isinstance(facts.allowed, Unseen) or isinstance(facts.unreserved, Unseen):
        return
    figures: dict[str, Any] = {"needed": facts.needed, "allowed": facts.allowed, "unreserved": facts.unreserved}
    needs = f"Scale={facts.scale} needs {facts.needed:,}"
    asked = 0 if isinstance(facts.asked_for, Unseen) else facts.asked_for or 0
    if facts.allowed < facts.needed <= asked:
        yield ASKED(f"The account allows {facts.allowed:,}, and {needs}; AWS was asked for {asked:,.0f}.", **figures)
    elif facts.allowed < facts.needed:
        yield TOO_LOW(f"The account lets {facts.allowed:,} functions run at a time, but {needs}.", **figures)
    elif facts.unreserved < facts.needed:
        yield RESERVED(f"Of {facts.allowed:,}, {facts.unreserved:,} are not reserved, but {needs}.", **figures)
    else:
        yield ENOUGH(f"The account lets {facts.allowed:,} functions run at a time; {needs}.", **figures)
    if not isinstance(facts.peak, Unseen) and facts.peak and facts.peak > NEARLY * facts.allowed:
        yield NEARLY_USED(
            f"At most {facts.peak:,.0f} functions ran at a time, of {facts.allowed:,} that may.", peak=facts.peak
        )


def judge_functions(facts: FunctionFacts) -> Iterator[Finding]:
    """One row for each function that failed or was throttled."""
    yield from _rows(FAIL, facts.errors, "ended with an error", "ended with an error")
    yield from _rows(THROTTLED, facts.throttles, "was refused by Lambda", "were refused by Lambda")
    if number := facts.stray_percents:
        yield STRAY(f"{number:,.0f} attempts went to a URL with a stray %.", number=number)
    if not facts.errors and not facts.throttles:
        yield WELL("No function failed or was throttled in the last quarter of an hour.")


def _rows(entry: Entry, counts: Mapping[str, float], one: str, many: str) -> Iterator[Finding]:
    for name, number in sorted(counts.items(), key=lambda item: -item[1]):
        what = f"1 invocation of {name} {one}." if number == 1 else f"{number:,.0f} invocations of {name} {many}."
        yield entry(what, about=name, number=number)
