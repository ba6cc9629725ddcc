"""The use cases behind the functions of the API that create schedules, wired from their environment variables."""

from delayer.aws import api_wiring, wiring
from delayer.aws.clients import client, hasty_client
from delayer.aws.headcount import DynamoHeadcount
from delayer.aws.rates import DynamoRates
from delayer.aws.runtime import SystemClock, number, setting
from delayer.core.quota import Limits
from delayer.ports import Observer
from delayer.use_cases.accept import Accept
from delayer.use_cases.quota import Quota
from delayer.use_cases.replace import Replace


def quota(observer: Observer) -> Quota:
    """The quotas in MAX_CREATES_PER_MINUTE and MAX_LIVE_SCHEDULES."""
    limits = Limits(creates_per_minute=number("MAX_CREATES_PER_MINUTE"), live=number("MAX_LIVE_SCHEDULES"))
    # A second client costs a cold start some milliseconds: only whoever counts has one.
    dynamodb = hasty_client("dynamodb") if limits.live else client("dynamodb")
    return Quota(
        clock=SystemClock(),
        limits=limits,
        rates=DynamoRates(dynamodb=client("dynamodb"), table=setting("REGISTRY_TABLE")),
        headcount=DynamoHeadcount(dynamodb=dynamodb, table=setting("JOURNAL_TABLE")),
        observer=observer,
    )


def accept(observer: Observer) -> Accept:
    """The use case behind POST, alone and in a batch."""
    return Accept(
        clock=SystemClock(),
        schedules=wiring.schedule_table(),
        ledger=wiring.ledger(),
        registry=api_wiring.registry(),
        ids=api_wiring.new_ids(),
        quota=quota(observer),
        observer=observer,
    )


def replace(observer: Observer) -> Replace:
    """The use case behind PUT and PATCH."""
    return Replace(
        clock=SystemClock(),
        ledger=wiring.ledger(),
        schedules=wiring.schedule_table(),
        registry=api_wiring.registry(),
        journal=api_wiring.journal(),
        ids=api_wiring.new_ids(),
        quota=quota(observer),
        observer=observer,
    )
