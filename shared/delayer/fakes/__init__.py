"""Fakes of all ports that keep no rows, in memory, under a clock that is moved by hand. They are held to the same
contract tests as the AWS adapters, so that they cannot drift, and are shipped: use them to test your own action.

Ports that keep rows need no fake: their repositories stand on SQLite in memory (ADR 0170).
"""

from delayer.fakes.connections.secrets import MemorySeal, MemorySecrets
from delayer.fakes.messaging.objects import MemoryObjects
from delayer.fakes.messaging.queue import MemoryQueue
from delayer.fakes.messaging.stream import MemoryStream
from delayer.fakes.messaging.topic import MemoryTopic
from delayer.fakes.runtime.clock import ManualClock, ManualMeeting
from delayer.fakes.runtime.function import MemoryFunction
from delayer.fakes.runtime.observer import MemoryObserver
from delayer.fakes.runtime.sequence import AtOnce, InOrder, Tokens
from delayer.fakes.runtime.target import ScriptedTarget

__all__ = [
    "AtOnce",
    "InOrder",
    "ManualClock",
    "ManualMeeting",
    "MemoryFunction",
    "MemoryObjects",
    "MemoryObserver",
    "MemoryQueue",
    "MemorySeal",
    "MemorySecrets",
    "MemoryStream",
    "MemoryTopic",
    "ScriptedTarget",
    "Tokens",
]
