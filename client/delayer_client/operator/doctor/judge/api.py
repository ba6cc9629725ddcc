"""The API: whether it answers, who the caller is for it, and whose clock is wrong."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, Final

from delayer_client.operator.doctor.entry import Entry
from delayer_client.operator.doctor.facts import Answer, ApiFacts, Caller
from delayer_client.operator.doctor.finding import Finding, Severity

AREA: Final = "api"
CLOCK: Final = "clock"
PROBLEM: Final = "urn:delayer:problem:"
SHOWN: Final = 10  # names
FAR_OFF: Final = 5.0  # seconds
REFUSED_FROM: Final = 240.0  # seconds: AWS refuses signatures that are five minutes off

ANSWERS: Final = Entry(
    code="api-answers", severity=Severity.OK, area=AREA, means="The API answers, and takes the caller for an owner."
)
SILENT: Final = Entry(
    code="api-silent",
    severity=Severity.PROBLEM,
    area=AREA,
    means="Nobody answers at the URL.",
    do="Check the URL: it is the output ApiUrl of the stack, or http://localhost:8080 while `make local-aws` runs.",
    link="start/one-machine.md",
)
NOT_DELAYER: Final = Entry(
    code="api-not-delayer",
    severity=Severity.PROBLEM,
    area=AREA,
    means="Something answers at the URL, but it is not the API of Delayer.",
    do="Check the URL: it is the output ApiUrl of the stack, without a path.",
    link="operate/verify.md",
)
REFUSES: Final = Entry(
    code="api-refuses-caller",
    severity=Severity.PROBLEM,
    area=AREA,
    means="The API refuses the caller: no credentials, or wrong ones, or a token without the scope.",
    do="Give a token of the stack's issuer (DELAYER_TOKEN), or AWS credentials with execute-api:Invoke on the API.",
    link="start/aws.md#let-a-caller-in",
)
FAILS: Final = Entry(
    code="api-fails",
    severity=Severity.PROBLEM,
    area=AREA,
    means="The API answers 5xx or 429.",
    do="Look into the log of api-schedule-list for the reason. What is scheduled fires all the same.",
    link="operate/runbook.md#apiservererrorsalarm",
)
ANY_HOST: Final = Entry(
    code="connections-for-any-host",
    severity=Severity.NOTE,
    area=AREA,
    means="Connections of the caller name no hosts: whoever may create schedules can send their secrets anywhere.",
    do="PUT each of them again, with hosts.",
    link="use/connections.md#hosts",
)
CLOCK_RIGHT: Final = Entry(
    code="clock-right",
    severity=Severity.OK,
    area=CLOCK,
    means="The clock of this machine and that of the API differ by less than five seconds.",
)
CLOCK_OFF: Final = Entry(
    code="clock-off",
    severity=Severity.WARNING,
    area=CLOCK,
    means="The clock of this machine is off by five seconds or more: times that are made here are wrong by as much.",
    do="Set the clock of this machine (NTP).",
)
CLOCK_FAR_OFF: Final = Entry(
    code="clock-far-off",
    severity=Severity.PROBLEM,
    area=CLOCK,
    means="The clock is off by four minutes or more: AWS soon refuses what is signed here, or does so already.",
    do="Set the clock of this machine (NTP).",
)
ENTRIES: Final = (ANSWERS, SILENT, NOT_DELAYER, REFUSES, FAILS, ANY_HOST, CLOCK_RIGHT, CLOCK_OFF, CLOCK_FAR_OFF)


def judge(facts: ApiFacts) -> Iterator[Finding]:
    """The answer, and the clock that it shows."""
    yield _answer(facts.answer, facts.caller)
    if names := facts.for_any_host:
        more = f", and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        text = f"Connections that name no hosts: {', '.join(names[:SHOWN])}{more}."
        yield ANY_HOST(text, connections=list(names))
    ahead = facts.answer.ahead_seconds
    if ahead is not None:
        yield _clock(-ahead)


def _answer(answer: Answer, caller: Caller) -> Finding:
    figures: dict[str, Any] = {"status": answer.status, "url": answer.url}
    if not answer.status:
        return SILENT(f"Nobody answers at {answer.url}: {answer.error}.", **figures)
    if answer.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return REFUSES(
            f"The API answers {answer.status} to a call with {answer.shown_with}: {_said(answer)}", **figures
        )
    if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR or answer.status == HTTPStatus.TOO_MANY_REQUESTS:
        return FAILS(f"The API answers {answer.status}: {_said(answer)}", **figures)
    if not _is_delayer(answer):
        return NOT_DELAYER(f"{answer.url} answers {answer.status}, but not as Delayer does.", **figures)
    return ANSWERS(
        f"The API answers in {answer.milliseconds} ms. {_caller(caller)}",
        milliseconds=answer.milliseconds,
        owner=caller.owner,
        authorization=caller.authorization,
        **figures,
    )


def _is_delayer(answer: Answer) -> bool:
    if answer.status == HTTPStatus.OK:
        return isinstance(answer.body.get("schedules"), list)
    return str(answer.body.get("type", "")).startswith(PROBLEM)


def _said(answer: Answer) -> str:
    return str(answer.body.get("detail") or answer.body.get("message") or "it says no more")[:300]


def _caller(caller: Caller) -> str:
    whose = f"You are the owner {caller.owner}" if caller.owner else "Which owner you are cannot be seen from here"
    return f"{whose} (ApiAuthorization={caller.authorization})." if caller.authorization else f"{whose}."


def _clock(seconds: float) -> Finding:
    """`seconds` that this machine's clock is ahead."""
    if abs(seconds) < FAR_OFF:
        return CLOCK_RIGHT("The clock of this machine is right.", aheadSeconds=seconds)
    entry = CLOCK_FAR_OFF if abs(seconds) >= REFUSED_FROM else CLOCK_OFF
    where = "ahead of" if seconds > 0 else "behind"
    return entry(f"The clock of this machine is {abs(seconds):,.0f} s {where} that of the API.", aheadSeconds=seconds)
