"""Looks at one area after the other: asks, then judges."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final, Self

from delayer_client.operator.doctor.facts import ApiFacts, Unseen
from delayer_client.operator.doctor.finding import Finding
from delayer_client.operator.doctor.gather import account, alarms, api, queues, readers, stack, stored
from delayer_client.operator.doctor.gather.metrics import PERMISSION as METRICS
from delayer_client.operator.doctor.gather.seeing import seen
from delayer_client.operator.doctor.judge import account as of_account
from delayer_client.operator.doctor.judge import alarms as of_alarms
from delayer_client.operator.doctor.judge import api as of_api
from delayer_client.operator.doctor.judge import queues as of_queues
from delayer_client.operator.doctor.judge import readers as of_readers
from delayer_client.operator.doctor.judge import rules as of_rules
from delayer_client.operator.doctor.judge import unseen, waiting
from delayer_client.operator.doctor.judge.each_minute import canary, ticks
from delayer_client.operator.errors import NoCredentials
from delayer_client.operator.stack import DEFAULT_STACK, OperatorStack

Judge = Callable[[Any, datetime], Iterable[Finding]]


@dataclass(frozen=True, kw_only=True)
class Area:
    """One thing to look at."""

    name: str
    permission: str  # what looking needs, beside reading the stack
    look: Callable[[OperatorStack, datetime], Any]
    judge: Judge  # of what was seen, at this instant


def whenever(judge: Callable[[Any], Iterable[Finding]]) -> Judge:
    """A judgement that does not depend on the time."""
    return lambda facts, _: judge(facts)


STACK: Final = "stack"
AREAS: Final = (
    Area(name=STACK, permission="cloudformation:DescribeStacks", look=stack.look, judge=whenever(ticks.judge_stack)),
    Area(name="ticks", permission="cloudformation:DescribeStacks", look=stack.look_at_ticks, judge=ticks.judge),
    Area(
        name="mappings",
        permission="lambda:ListEventSourceMappings",
        look=readers.look,
        judge=whenever(of_readers.judge),
    ),
    Area(name="streams", permission=METRICS, look=readers.look_at_streams, judge=whenever(of_readers.judge_streams)),
    Area(name="canary", permission=METRICS, look=readers.look_at_canary, judge=canary.judge),
    Area(name="queues", permission="sqs:GetQueueAttributes", look=queues.look, judge=whenever(of_queues.judge)),
    Area(name="alarms", permission="cloudwatch:DescribeAlarms", look=alarms.look, judge=whenever(of_alarms.judge)),
    Area(
        name="dead letters",
        permission="lambda:InvokeFunction",
        look=stored.look_at_dead_letters,
        judge=whenever(waiting.judge_dead_letters),
    ),
    Area(
        name="flow",
        permission="lambda:InvokeFunction",
        look=stored.look_at_flow,
        judge=whenever(waiting.judge_flow),
    ),
    Area(name="rules", permission=stored.OF_RULES, look=stored.look_at_rules, judge=whenever(of_rules.judge)),
    Area(
        name="concurrency",
        permission="lambda:GetAccountSettings",
        look=account.look,
        judge=whenever(of_account.judge),
    ),
    Area(
        name="functions",
        permission=METRICS,
        look=readers.look_at_functions,
        judge=whenever(of_account.judge_functions),
    ),
)


class Doctor:
    """Of one stack. Without AWS credentials it looks at the API alone, and says of all else that it cannot see it."""

    areas: ClassVar[tuple[str, ...]] = ("api", *(area.name for area in AREAS))

    def __init__(
        self, stack: OperatorStack | None, api_url: str, *, token: str = "", owner: str = "", why_no_stack: str = ""
    ) -> None:
        self.stack = stack
        self.api_url = api_url.rstrip("/")
        self.token = token  # for ApiAuthorization=JWT
        self.owner = owner  # for one machine, where a header names the owner
        self.why_no_stack = why_no_stack or "there are no AWS credentials"

    @classmethod
    def find(
        cls,
        api_url: str,
        stack: str = DEFAULT_STACK,
        *,
        token: str = "",
        owner: str = "",
        profile: str = "",
        region: str = "",
        folder: Path | None = None,
    ) -> Self:
        """With the credentials that OperatorStack.find finds, if there are any."""
        try:
            found = OperatorStack.find(api_url, stack, folder=folder, region=region, profile=profile)
        except NoCredentials as error:
            return cls(None, api_url, token=token, owner=owner, why_no_stack=str(error))
        return cls(found, api_url, token=token, owner=owner)

    def examine(self, on_progress: Callable[[str], None] | None = None) -> list[Finding]:
        """Look at everything. Never raises for what it cannot see. `on_progress` gets each area as it begins."""
        progress = on_progress or (lambda _: None)
        progress("api")
        facts = seen("execute-api:Invoke", lambda: api.look(self.api_url, self.stack, self.token, self.owner))
        findings = list(unseen.judge(facts, "api"))
        if not isinstance(facts, Unseen):
            findings += of_api.judge(facts)
        if self.stack is None:
            return [*findings, *unseen.judge(Unseen(why=self.why_no_stack), "all else")]
        return findings + examine_stack(self.stack, corrected(datetime.now(UTC), facts), progress)


def examine_stack(
    stack: OperatorStack, now: datetime, progress: Callable[[str], object] = lambda _: None
) -> list[Finding]:
    """All but the API. If there is no such stack, or AWS does not answer, nothing else is looked at."""
    findings: list[Finding] = []
    for area in AREAS:
        progress(area.name)
        facts = seen(area.permission, partial(area.look, stack, now))
        found = list(unseen.judge(facts, area.name))
        if not isinstance(facts, Unseen):
            judged = seen(area.permission, partial(_judged, area, facts, now))
            found += unseen.judge(judged, area.name) if isinstance(judged, Unseen) else judged
        findings += found
        if area.name == STACK and any(one.code == unseen.NOT_SEEN.code for one in found):
            break
    return findings


def _judged(area: Area, facts: object, now: datetime) -> list[Finding]:
    return list(area.judge(facts, now))


def corrected(now: datetime, facts: ApiFacts | Unseen) -> datetime:
    """By the clock of the API, for those of AWS wrote the times that are looked at. Its header shows whole seconds."""
    ahead = None if isinstance(facts, Unseen) else facts.answer.ahead_seconds
    return now + timedelta(seconds=ahead) if ahead is not None and abs(ahead) >= of_api.FAR_OFF else now
