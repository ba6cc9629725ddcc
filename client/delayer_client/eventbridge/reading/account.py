"""Reads an account by boto3, which the extra `aws` brings. Nothing is changed there."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from delayer_client.errors import install
from delayer_client.eventbridge.reading.documents import Collecting, shaped
from delayer_client.eventbridge.reading.sources import (
    ApiDestination,
    Connection,
    Found,
    Gap,
    ReadingError,
    Rule,
    RuleTarget,
    Schedule,
)
from delayer_client.transport.proxies import aws_client

if TYPE_CHECKING:
    from boto3 import Session

Progress = Callable[[str, int], None]  # what is read, and how many of it so far
_ARN: Final = ":api-destination/"


def session_of(region: str | None = None, profile: str | None = None) -> "Session":
    """By the standard configuration of AWS. Raises ReadingError without boto3, or without a region."""
    try:
        import boto3
        from botocore.exceptions import BotoCoreError
    except ImportError as error:
        raise ReadingError(f"Reading the account needs boto3. {install('aws')}") from error
    try:
        session = boto3.Session(region_name=region, profile_name=profile)
    except BotoCoreError as error:
        raise ReadingError(f"{error}. Give the name of a profile that `aws configure list-profiles` shows.") from error
    if not session.region_name:
        raise ReadingError("No region is configured: give one (--region eu-west-1), or set AWS_DEFAULT_REGION.")
    return session


def read_account(
    session: "Session",
    *,
    groups: Sequence[str] = (),
    buses: Sequence[str] = (),
    progress: Progress = lambda _what, _count: None,
) -> Found:
    """Its schedules, of these groups or of all, and its scheduled rules, of these event buses or of all.

    What is not allowed, or fails, is among the gaps of the answer. Raises ReadingError if there are no credentials.
    """
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

    try:
        reading = _Reading(session, progress, (ClientError, BotoCoreError))
    except (ValueError, BotoCoreError) as error:
        raise ReadingError(f"AWS cannot be asked: {error} Look at the region and at AWS_ENDPOINT_URL.") from error
    try:
        reading.schedules(groups or [""])
        reading.rules(buses)
    except NoCredentialsError as error:
        raise ReadingError("No credentials of AWS were found: `aws configure`, or set AWS_PROFILE.") from error
    return reading.found()


class _Reading:
    """Of one region of one account."""

    def __init__(self, session: "Session", progress: Progress, faults: tuple[type[Exception], ...]) -> None:
        from botocore.config import Config

        patient = Config(retries={"mode": "adaptive", "max_attempts": 10})  # GetSchedule is throttled
        self._scheduler = aws_client("scheduler", config=patient, make=session.client)
        self._events = aws_client("events", config=patient, make=session.client)
        self._progress = progress
        self._faults = faults
        self._collecting = Collecting()
        self._asked: set[str] = set()  # API destinations and connections, by ARN

    def found(self) -> Found:
        return self._collecting.found()

    def schedules(self, groups: Sequence[str]) -> None:
        """One call for each: the list has neither the expression nor the input."""
        count = 0
        for group in groups:
            asked = {"GroupName": group} if group else {}
            for one in self._pages("scheduler:ListSchedules", self._scheduler, "list_schedules", "Schedules", asked):
                by = {"GroupName": one["GroupName"], "Name": one["Name"]}
                what = f"schedule {one['GroupName']}/{one['Name']}"
                answer = self._asked_for("scheduler:GetSchedule", what, partial(self._scheduler.get_schedule, **by))
                if answer is not None:
                    self._collecting.add_schedule(shaped(answer, Schedule, what))
                count += 1
                self._progress("schedules", count)

    def rules(self, buses: Sequence[str]) -> None:
        """Reads the rules with a ScheduleExpression. Rules with an event pattern are none of a scheduler's."""
        count = 0
        for bus in buses or self._buses():
            asked = {"EventBusName": bus}
            for one in self._pages("events:ListRules", self._events, "list_rules", "Rules", asked):
                if not one.get("ScheduleExpression"):
                    continue
                self._rule({**one, "EventBusName": one.get("EventBusName", bus)})
                count += 1
                self._progress("rules", count)

    def _rule(self, one: dict[str, Any]) -> None:
        what = f"rule {one['EventBusName']}/{one['Name']}"
        asked = {"Rule": one["Name"], "EventBusName": one["EventBusName"]}
        is_whole = len(self._collecting.gaps)
        call = ("events:ListTargetsByRule", self._events, "list_targets_by_rule", "Targets", asked)
        targets = shaped([*self._pages(*call, what=what)], tuple[RuleTarget, ...], what)
        if len(self._collecting.gaps) > is_whole:
            return
        self._collecting.add_rule(shaped({**one, "Targets": [*targets]}, Rule, what))
        for target in targets:
            if _ARN in target.arn:
                self._destination(target.arn)

    def _destination(self, arn: str) -> None:
        name = arn.split("/")[1]
        answer = self._once(
            arn, "events:DescribeApiDestination", partial(self._events.describe_api_destination, Name=name)
        )
        if answer is None:
            return
        destination = shaped(answer, ApiDestination, f"API destination {name}")
        self._collecting.add_destination(destination)
        by = destination.connection_arn.split("/")[1]
        answer = self._once(
            destination.connection_arn, "events:DescribeConnection", partial(self._events.describe_connection, Name=by)
        )
        if answer is not None:
            self._collecting.add_connection(shaped(answer, Connection, f"connection {by}"))

    def _buses(self) -> list[str]:
        """boto3 has no paginator for them."""
        names: list[str] = []
        token: dict[str, str] = {}
        while True:
            answer = self._asked_for(
                "events:ListEventBuses", "event buses", partial(self._events.list_event_buses, **token)
            )
            if answer is None:
                return names or ["default"]
            names += [bus["Name"] for bus in answer["EventBuses"]]
            if not answer.get("NextToken"):
                return names
            token = {"NextToken": answer["NextToken"]}

    def _once(self, arn: str, action: str, call: Callable[[], Any]) -> Any:
        if arn in self._asked:
            return None
        self._asked.add(arn)
        return self._asked_for(action, arn, call)

    def _asked_for(self, action: str, what: str, call: Callable[[], Any]) -> Any:
        """The answer; None, and a gap, if there is none."""
        try:
            return call()
        except self._faults as error:
            self._failed(action, what, error)
            return None

    def _pages(
        self, action: str, client: Any, operation: str, key: str, asked: dict[str, str], what: str = ""
    ) -> Iterator[Any]:
        try:
            for page in client.get_paginator(operation).paginate(**asked):
                yield from page.get(key, [])
        except self._faults as error:
            self._failed(action, what or " ".join((key.lower(), *asked.values())), error)

    def _failed(self, action: str, what: str, error: Exception) -> None:
        from botocore.exceptions import NoCredentialsError

        if isinstance(error, NoCredentialsError):
            raise error
        code = getattr(error, "response", {}).get("Error", {}).get("Code", "")
        is_denied = "AccessDenied" in code or "NotAuthorized" in code
        why = f"{action} is not allowed." if is_denied else f"{action} failed: {str(error).rstrip('.')}."
        remedy = f"Allow {action} to whoever reads the account." if is_denied else "Read the account again."
        self._collecting.gaps.append(Gap(what=what, why=why, remedy=remedy))
