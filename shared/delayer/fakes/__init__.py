"""Fakes of all ports, in memory, under a clock that is moved by hand. They are held to the same contract
tests as the AWS adapters, so that they cannot drift, and are shipped: use them to test your own action.
"""

from delayer.fakes.connections.connections import MemoryConnections, MemoryTokens
from delayer.fakes.connections.secrets import MemorySeal, MemorySecrets
from delayer.fakes.flow.blocks import MemoryBlocks
from delayer.fakes.flow.lines import MemoryLines
from delayer.fakes.flow.seats import MemorySeats
from delayer.fakes.lanes.records import MemoryRecords, MemoryWaitingTable
from delayer.fakes.messaging.dead_letter_store import MemoryDeadLetterStore
from delayer.fakes.messaging.queue import MemoryQueue
from delayer.fakes.messaging.topic import MemoryTopic
from delayer.fakes.owners.owner_claim import MemoryOwnerClaim
from delayer.fakes.owners.owner_policies import MemoryOwnerPolicies
from delayer.fakes.runtime.clock import ManualClock, ManualMeeting
from delayer.fakes.runtime.function import MemoryFunction
from delayer.fakes.runtime.observer import MemoryObserver
from delayer.fakes.runtime.sequence import AtOnce, InOrder, Tokens
from delayer.fakes.runtime.target import ScriptedTarget
from delayer.fakes.series.upkeep import MemorySeriesProgress, MemorySeriesUpkeep
from delayer.fakes.signing.rows import MemorySigningRows
from delayer.fakes.tables.actions import MemoryActions
from delayer.fakes.tables.control import MemoryControl
from delayer.fakes.tables.journal import MemoryJournal, MemoryLiveCount, MemoryRateLimit
from delayer.fakes.tables.ledger import MemoryLedger
from delayer.fakes.tables.registry import MemoryJobs, MemoryRegistry
from delayer.fakes.tables.schedule_table import MemoryScheduleTable
from delayer.fakes.tables.series import MemorySeries
from delayer.fakes.tables.stream import MemoryStream
from delayer.fakes.tables.trials import MemoryTrials

__all__ = [
    "AtOnce",
    "InOrder",
    "ManualClock",
    "ManualMeeting",
    "MemoryActions",
    "MemoryBlocks",
    "MemoryConnections",
    "MemoryControl",
    "MemoryDeadLetterStore",
    "MemoryFunction",
    "MemoryJobs",
    "MemoryJournal",
    "MemoryLedger",
    "MemoryLines",
    "MemoryLiveCount",
    "MemoryObserver",
    "MemoryOwnerClaim",
    "MemoryOwnerPolicies",
    "MemoryQueue",
    "MemoryRateLimit",
    "MemoryRecords",
    "MemoryRegistry",
    "MemoryScheduleTable",
    "MemorySeal",
    "MemorySeats",
    "MemorySecrets",
    "MemorySeries",
    "MemorySeriesProgress",
    "MemorySeriesUpkeep",
    "MemorySigningRows",
    "MemoryStream",
    "MemoryTokens",
    "MemoryTopic",
    "MemoryTrials",
    "MemoryWaitingTable",
    "ScriptedTarget",
    "Tokens",
]
