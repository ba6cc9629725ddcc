"""The settings of the template: each once, with the environment variables that it is read of.

Nobody needs these variables: `Environment("…", settings=Settings(…))` is a bundle with settings of one's own.
"""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, Final, cast

from attrs import Attribute, field, fields_dict, frozen

from delayer.enqueue.rules import BACKLOG_PER_RELAY
from delayer.schedule.instants import DAY, SECOND, Millis

if TYPE_CHECKING:
    from delayer.owners.rules import Quotas

VARIABLES: Final = "variables"
READ: Final = "read"
INSTEAD: Final = "instead"
EMPTY: Final = ""


def of(*variables: str, read: Callable[..., Any] = str, instead: str | None = None) -> dict[str, Any]:
    """How a setting is made of the values of these variables.

    `instead` is read where a stack has no such variable: another one, or nothing, which is `EMPTY`.
    """
    return {VARIABLES: variables, READ: read, INSTEAD: instead}


def _names(text: str) -> tuple[str, ...]:
    return tuple(filter(None, text.split(",")))


def _quotas(per_second: str, per_minute: str, live: str) -> "Quotas":
    from delayer.owners.rules import Quotas  # who creates nothing has no need of it

    return Quotas(creates_per_second=int(per_second), creates_per_minute=int(per_minute), live=int(live))


@frozen(kw_only=True, eq=False)
class Settings:
    """Of one stack. The names of tables, queues and functions are for the parts of a bundle, the rest for use cases."""

    period: Millis = field(metadata=of("DELAYER_PERIOD", read=lambda text: int(text) * SECOND))  # the delayer period
    # How long a claim says that its function may still be at work.
    lease: Millis = field(metadata=of("LEASE", read=lambda text: int(text) * SECOND))
    lead: Millis = field(
        metadata=of("HANDOVER_LEAD", read=int)
    )  # a schedule may be handed over so long before its time
    shards: int = field(metadata=of("SHARDS", read=int))  # that a writer spreads over
    # Of each owner.
    quotas: "Quotas" = field(
        metadata=of("MAX_CREATES_PER_SECOND", "MAX_CREATES_PER_MINUTE", "MAX_LIVE_SCHEDULES", read=_quotas)
    )
    max_live: int = field(metadata=of("MAX_LIVE_SCHEDULES", read=int))  # live schedules, which the journal counts
    # So many visible messages in the delayer queue are a backlog.
    backlog_mark: int = field(metadata=of("RELAY_CONCURRENCY", read=lambda text: int(text) * BACKLOG_PER_RELAY))
    heartbeats: int = field(metadata=of("HEARTBEATS", read=int))  # with a lane each, that each tick sends
    suspects: str = field(metadata=of("SUSPECTS_QUEUE"))  # the name of a queue that brings this function messages, too
    stack: str = field(metadata=of("STACK"))  # its name
    stack_id: str = field(metadata=of("STACK_ID"))  # its ARN
    # How long a history is kept.
    keep_for: Millis = field(metadata=of("JOURNAL_DAYS", read=lambda text: int(text) * DAY))
    event_source: str = field(metadata=of("EVENT_SOURCE"))  # names this stack in its events
    has_events: bool = field(metadata=of("LIFECYCLE", read=lambda text: text != "off"))  # they are published
    has_journal: bool = field(metadata=of("LIFECYCLE", read=lambda text: text == "journal"))  # it is switched on
    has_canary: bool = field(metadata=of("CANARY", read=lambda text: text == "on"))  # each tick schedules one
    # The names of those that the stack has.
    policies: Collection[str] = field(metadata=of("POLICIES", read=_names))
    has_timing: bool = field(metadata=of("WAITING_TABLE", read=bool, instead=EMPTY))  # it has the lane of the policies
    lanes: Collection[str] = field(metadata=of("LANES", read=_names))  # beside the precise one and that of the policies
    schedules_table: str = field(metadata=of("SCHEDULES_TABLE"))
    # Without a lane there is no schedule of it, wherever one is looked for. What is brought from elsewhere is stored as
    # a precise one, and fires as one (ADR 0172).
    relaxed_table: str = field(metadata=of("RELAXED_TABLE", instead="SCHEDULES_TABLE"))
    waiting_table: str = field(metadata=of("WAITING_TABLE", instead="SCHEDULES_TABLE"))
    timing_table: str = field(metadata=of("WAITING_TABLE"))  # the same, for parts that are about this lane alone
    ledger_table: str = field(metadata=of("LEDGER_TABLE"))
    control_table: str = field(metadata=of("CONTROL_TABLE"))
    registry_table: str = field(metadata=of("REGISTRY_TABLE"))
    journal_table: str = field(metadata=of("JOURNAL_TABLE"))
    delayer_queue_url: str = field(default="", metadata=of("DELAYER_QUEUE"))
    sweep_queue_url: str = field(default="", metadata=of("SWEEP_QUEUE"))
    group_queue_url: str = field(default="", metadata=of("GROUP_QUEUE"))
    own_queue_url: str = field(default="", metadata=of("OWN_QUEUE"))
    remote_queue_url: str = field(default="", metadata=of("REMOTE_QUEUE"))
    timing_dead_letters_url: str = field(default="", metadata=of("TIMING_DEAD_LETTERS"))
    stream_enqueuer: str = field(default="", metadata=of("STREAM_ENQUEUER"))  # functions, by their names
    relaxed_claimer: str = field(default="", metadata=of("RELAXED_CLAIMER", instead=EMPTY))
    executor_remote_name: str = field(default="", metadata=of("EXECUTOR_REMOTE"))
    lifecycle_topic_arn: str = field(default="", metadata=of("LIFECYCLE_TOPIC"))
    dead_letter_bucket: str = field(default="", metadata=of("DEAD_LETTER_BUCKET"))


SETTINGS: Final[dict[str, "Attribute[Any]"]] = fields_dict(Settings)


class _OfVariables:
    """Settings, each read when it is asked for: a function is given the variables that it needs, and no others."""

    def __init__(self, variable: Callable[[str], str], optional: Callable[[str], str]) -> None:
        self._variable, self._optional = variable, optional

    def __getattr__(self, name: str) -> Any:
        if name not in SETTINGS:
            raise AttributeError(name)
        how = SETTINGS[name].metadata
        return how[READ](*(self._value(one, how[INSTEAD]) for one in how[VARIABLES]))

    def _value(self, variable: str, instead: str | None) -> str:
        if instead is None:
            return self._variable(variable)
        return self._optional(variable) or (instead and self._variable(instead))


def settings_of(variable: Callable[[str], str], optional: Callable[[str], str]) -> Settings:
    """By the values of variables: of those that every stack has, and of those that some have."""
    return cast("Settings", _OfVariables(variable, optional))
