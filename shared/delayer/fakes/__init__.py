"""Fakes of all ports, in memory, under a clock that is moved by hand. They are held to the same contract
tests as the AWS adapters, so that they cannot drift, and are shipped: use them to test your own action.
"""

from delayer.fakes.clock import ManualClock
from delayer.fakes.control import MemoryControl
from delayer.fakes.journal import MemoryHeadcount, MemoryJournal, MemoryRates
from delayer.fakes.ledger import MemoryLedger
from delayer.fakes.observer import MemoryObserver
from delayer.fakes.queue import MemoryQueue
from delayer.fakes.registry import MemoryJobs, MemoryRegistry
from delayer.fakes.schedule_table import MemoryScheduleTable
from delayer.fakes.sequence import InOrder, Tokens
from delayer.fakes.set_aside_store import MemorySetAsideStore
from delayer.fakes.stream import MemoryStream
from delayer.fakes.target import ScriptedTarget
from delayer.fakes.topic import MemoryTopic

__all__ = [
    "InOrder",
    "ManualClock",
    "MemoryControl",
    "MemoryHeadcount",
    "MemoryJobs",
    "MemoryJournal",
    "MemoryLedger",
    "MemoryObserver",
    "MemoryQueue",
    "MemoryRates",
    "MemoryRegistry",
    "MemoryScheduleTable",
    "MemorySetAsideStore",
    "MemoryStream",
    "MemoryTopic",
    "ScriptedTarget",
    "Tokens",
]
