"""The adapters of this stack, from the environment variables that the template sets."""

import os

from delayer.aws.clients import client
from delayer.aws.control import DynamoControl
from delayer.aws.ledger import DynamoLedger
from delayer.aws.queue import SqsQueue, deliveries_of, partial_failure
from delayer.aws.runtime import SystemClock, Threads, random_token, setting
from delayer.aws.schedule_table import DynamoScheduleTable
from delayer.aws.set_aside_store import S3SetAsideStore
from delayer.aws.telemetry import Handler, Telemetry
from delayer.ports import Target
from delayer.use_cases.execute import Execute
from delayer.use_cases.set_aside import SetAside

EXECUTOR_QUEUE = "EXECUTOR_QUEUE_"


def schedule_table() -> DynamoScheduleTable:
    """The table in SCHEDULES_TABLE."""
    return DynamoScheduleTable(dynamodb=client("dynamodb"), table=setting("SCHEDULES_TABLE"))


def ledger() -> DynamoLedger:
    """The table in LEDGER_TABLE."""
    return DynamoLedger(dynamodb=client("dynamodb"), table=setting("LEDGER_TABLE"))


def control() -> DynamoControl:
    """The table in CONTROL_TABLE."""
    return DynamoControl(dynamodb=client("dynamodb"), table=setting("CONTROL_TABLE"))


def queue(variable: str) -> SqsQueue:
    """The queue whose URL is in a variable."""
    return SqsQueue(sqs=client("sqs"), url=setting(variable))


def executor_queues() -> dict[str, SqsQueue]:
    """The queue of each action type: EXECUTOR_QUEUE_HTTP_REQUEST is that of `http-request`."""
    return {
        name.removeprefix(EXECUTOR_QUEUE).lower().replace("_", "-"): queue(name)
        for name in os.environ
        if name.startswith(EXECUTOR_QUEUE)
    }


def set_aside_store() -> S3SetAsideStore:
    """The bucket in SET_ASIDE_BUCKET."""
    return S3SetAsideStore(s3=client("s3"), bucket=setting("SET_ASIDE_BUCKET"))


def set_aside(telemetry: Telemetry) -> SetAside:
    """The use case that keeps what must not be fired and must not be lost."""
    return SetAside(
        clock=SystemClock(),
        ledger=ledger(),
        store=set_aside_store(),
        observer=telemetry,
        source=telemetry.function,
    )


def executor_handler(function: str, target: Target) -> Handler:
    """The Lambda handler of an executor: all but the target is the same for every action."""
    telemetry = Telemetry(function)
    execute = Execute(
        clock=SystemClock(),
        ledger=ledger(),
        queue=queue("OWN_QUEUE"),
        target=target,
        set_aside=set_aside(telemetry),
        observer=telemetry,
        parallel=Threads(),
        new_delivery=random_token,
    )
    return telemetry.observed(lambda event, _: partial_failure(execute(deliveries_of(event))))
