"""The parts of the functions on one machine: the bundle of each, and the settings that the template would give them."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final

from attrs import field, frozen

from delayer.accept.rules.window import policies
from delayer.actions.registered import RegisteredActions
from delayer.actions.rules.model import ActionType
from delayer.actions.rules.registration import Registration
from delayer.connections.ports import Seal
from delayer.engines.ports import Clock, Objects, Secrets
from delayer.engines.process import InOrder
from delayer.engines.sqlite.queue import SqliteQueue
from delayer.engines.sqlite.store import SqliteStore
from delayer.owners.rules import Quotas
from delayer.schedule.instants import DAY, SECOND, Millis
from delayer.schedule.tables import CONTROL, JOURNAL, LEDGER, REGISTRY, SCHEDULES, WAITING
from delayer.serve.data.signing_rows import SealedSigningRows
from delayer.wiring.build import build
from delayer.wiring.bundle import Bundle
from delayer.wiring.settings import Settings

STACK: Final = "delayer"
STACK_ID: Final = f"arn:aws:cloudformation:local:000000000000:stack/{STACK}/0"
LEAD: Final[Millis] = 50  # so long before its point in time a schedule is claimed
LEASE: Final[Millis] = 10 * SECOND


@frozen(kw_only=True)
class Chosen:
    """The choices of whoever runs a machine."""

    lead: Millis = LEAD
    quotas: Quotas = field(factory=Quotas)
    keep_for: Millis = 90 * DAY  # so long a history is kept
    event_source: str = "urn:delayer:machine"  # of all events


def settings_of(chosen: Chosen) -> Settings:
    """As the template gives them. What is relaxed is in the same table as what is precise, and fires as that does."""
    return Settings(
        period=0,  # a record stays in its table until it is due
        lease=LEASE,
        lead=chosen.lead,
        shards=1,
        quotas=chosen.quotas,
        max_live=1,  # the journal counts, whether there is a limit or not
        backlog_mark=0,
        heartbeats=0,
        suspects="",
        stack=STACK,
        stack_id=STACK_ID,
        keep_for=chosen.keep_for,
        event_source=chosen.event_source,
        has_events=True,
        has_journal=True,
        has_canary=False,
        policies=policies(),
        has_timing=True,
        lanes=("relaxed",),
        schedules_table=SCHEDULES,
        relaxed_table=SCHEDULES,
        waiting_table=WAITING,
        timing_table=WAITING,
        ledger_table=LEDGER,
        control_table=CONTROL,
        registry_table=REGISTRY,
        journal_table=JOURNAL,
    )


class NotYet(BaseException):
    """Raised in place of a wait for an instant. Not an Exception: no code of Delayer's may catch it."""


@frozen
class TurnClock:
    """Port Clock, for what is done within a turn: nothing waits there."""

    clock: Clock

    def now(self) -> Millis:
        """As the port."""
        return self.clock.now()

    def sleep_until(self, instant: Millis) -> None:
        """Raises NotYet."""
        if instant > self.clock.now():
            raise NotYet


@frozen(kw_only=True)
class Around:
    """All that a machine gets from outside: the time, chance, and what it keeps elsewhere than in its rows."""

    clock: Clock
    observer: Any  # port Observer, and `observed` as handlers use it
    randomness: Callable[[int], bytes]
    pick: Callable[[int], int]
    new_token: Callable[[], str]
    new_id: Callable[[], str]
    objects: Objects  # of dead letters
    secrets: Secrets
    seal: Seal
    own_observer: Any = None  # for what others have written, whose notes are read; None: the same


class QueuesOf(Mapping[str, SqliteQueue]):
    """A queue for each of some names."""

    def __init__(self, queue_of: Callable[[str], SqliteQueue], names: Collection[str]) -> None:
        self._queue_of, self._names = queue_of, names

    def __getitem__(self, name: str) -> SqliteQueue:
        if name not in self._names:
            raise KeyError(name)
        return self._queue_of(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Parts:
    """The parts that all functions have: made once."""

    def __init__(
        self,
        around: Around,
        settings: Settings,
        items: SqliteStore,
        queue_of: Callable[[str], SqliteQueue],
        absent: Mapping[str, str],
    ) -> None:
        from delayer.dead_letters.repository import StoredDeadLetters

        seed = Bundle()
        seed.__dict__.update(settings=settings, items=items, clock=around.clock)
        actions = build(RegisteredActions, seed, absent=absent)
        self._all: dict[str, Any] = {
            "settings": settings,
            "observer": around.observer,
            "clock": TurnClock(around.clock),
            "parallel": InOrder(),
            "randomness": around.randomness,
            "pick": around.pick,
            "new_token": around.new_token,
            "new_job_id": around.new_id,
            "new_series_id": around.new_id,
            "items": items,
            "fail_fast_items": items,
            "actions": actions,
            "delayer_queue": queue_of("delayer"),
            "group_queue": queue_of("group"),
            "executor_queues": QueuesOf(lambda kind: queue_of(f"executor-{kind}"), actions),
            "policy_queues": QueuesOf(lambda name: queue_of(f"policy-{name}"), settings.policies),
            "dead_letter_store": StoredDeadLetters(around.objects),
            "secrets": around.secrets,
            "seal": around.seal,
            "signing_rows": SealedSigningRows(store=items, table=settings.control_table, seal=around.seal),
        }

    def of(self, function: str, **own: Any) -> Bundle:
        """The bundle of one function, with what is its own. All else it makes of these."""
        ports = Bundle()
        ports.__dict__.update(self._all, source=function, **own)
        return ports


def register(ports: Bundle, actions: Mapping[str, ActionType]) -> None:
    """Writes down the types of action that are new or have changed, and takes out those that are gone."""
    known = ports.action_rows.actions()
    for kind, before in known.items():
        if kind not in actions and all(one.stack == STACK_ID for one in before):
            ports.action_rows.write(kind, (), before)
    for kind, action in actions.items():
        before = tuple(known.get(kind, ()))
        if [one.action for one in before] != [action]:
            ports.action_rows.write(kind, (Registration(action=action, stack=STACK_ID, token=STACK),), before)
