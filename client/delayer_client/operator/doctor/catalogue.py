"""All kinds of findings, in the order in which the doctor looks."""

from typing import Final

from delayer_client.operator.doctor.entry import Entry
from delayer_client.operator.doctor.judge import (
    account,
    alarms,
    api,
    queues,
    readers,
    rules,
    unseen,
    waiting,
)
from delayer_client.operator.doctor.judge.each_minute import canary, ticks

CATALOGUE: Final[tuple[Entry, ...]] = (
    *api.ENTRIES,
    *ticks.ENTRIES,
    *readers.ENTRIES,
    *canary.ENTRIES,
    *queues.ENTRIES,
    *alarms.ENTRIES,
    *waiting.ENTRIES,
    *rules.ENTRIES,
    *account.ENTRIES,
    *unseen.ENTRIES,
)
