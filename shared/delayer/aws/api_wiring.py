"""The adapters of the API's functions, from the environment variables that the template sets."""

import secrets
from collections.abc import Callable
from typing import Any

from delayer.aws.clients import client, hasty_client
from delayer.aws.jobs import DynamoJobs
from delayer.aws.journal import DynamoJournal
from delayer.aws.registry import DynamoRegistry
from delayer.aws.runtime import SystemClock, number, setting
from delayer.aws.wiring import control
from delayer.use_cases.issue import Ids


def registry() -> DynamoRegistry:
    """The table in REGISTRY_TABLE, and the two that its transaction writes to."""
    return DynamoRegistry(
        dynamodb=client("dynamodb"),
        schedules_table=setting("SCHEDULES_TABLE"),
        ledger_table=setting("LEDGER_TABLE"),
        registry_table=setting("REGISTRY_TABLE"),
    )


def journal() -> DynamoJournal | None:
    """The table in JOURNAL_TABLE, for who can do without it; None if LIFECYCLE says that it is off."""
    return _journal(hasty_client)


def needed_journal() -> DynamoJournal | None:
    """The same, for who cannot."""
    return _journal(client)


def _journal(make: Callable[[str], Any]) -> DynamoJournal | None:
    if setting("LIFECYCLE") != "journal":
        return None
    return DynamoJournal(dynamodb=make("dynamodb"), table=setting("JOURNAL_TABLE"))


def ids() -> Ids:
    """The ids of this stack, for a function that issues none."""
    return _ids(1)


def new_ids() -> Ids:
    """The ids of this stack, spread over as many shards as SHARDS says."""
    return _ids(number("SHARDS"))


def _ids(shards: int) -> Ids:
    return Ids(
        clock=SystemClock(),
        control=control(),
        randomness=secrets.token_bytes,
        pick=secrets.randbelow,
        shards=shards,
    )


def jobs() -> DynamoJobs:
    """The jobs in REGISTRY_TABLE."""
    return DynamoJobs(dynamodb=client("dynamodb"), table=setting("REGISTRY_TABLE"))
