"""Each entry of the runbook as the metrics that this break produces, and those that ring for no promise.

A well stack is one with little to do: what it writes is in `WELL`. A break replaces some of that, from a minute on. For
the queues it is calculated from what SQS counts: a message that nobody receives grows old; one that comes
back is soon left out.
"""

from collections.abc import Mapping
from typing import Final

from tests.template.alarms.cloudwatch import Metrics, Name, Values

STACK: Final = "AWS::StackName"
FIRST_OF_SQS: Final = 15  # minutes until the metrics of a new queue come
FAR: Final = 17  # minutes until the first far canary has arrived
QUEUES: Final = (
    "DelayerQueue",
    "SweepQueue",
    "GroupQueue",
    "JournalQueue",
    "SeriesQueue",
    "SuspectsQueue",
    "ExecutorhttprequestQueue",
    "ExecutorsqssendQueue",
    "ExecutorremoteQueue",
    "ExecutorcanaryQueue",
)
TASKS: Final = ("Task1MinuteEnqueuer", "Task1MinuteSeries", "Task1MinuteTiming")
MAPPINGS: Final = (
    "StreamEnqueuerSchedules",
    "RelaxedClaimerRemovals",
    "TimingEnqueuerWaiting",
    *(f"StreamLifecycle{table}" for table in ("Schedules", "Relaxed", "Waiting", "Ledger", "Occurrences")),
)
Break = Mapping[Name, Values | None]


def always(*values: float) -> Values:
    return lambda _: values


def from_minute(first: int, values: Values) -> Values:
    """None before."""
    return lambda minute: values(minute) if minute >= first else ()


def every_other(odd: int, value: float, first: int = 0) -> Values:
    return lambda minute: (value,) if minute >= first and minute % 2 == odd else ()


def ages(begins: int, seconds: float = 0) -> Values:
    """A message that nobody takes."""
    return lambda minute: (max(minute - begins, 0) * 60 + seconds,)


WELL: Final[Mapping[Name, Values]] = {
    **{
        Name(metric, queue): from_minute(FIRST_OF_SQS, always(value))
        for queue in QUEUES
        for metric, value in {
            "ApproximateAgeOfOldestMessage": 0,
            "ApproximateNumberOfMessagesVisible": 0,
            "ApproximateNumberOfMessagesNotVisible": 0,
            "NumberOfEmptyReceives": 6,
            "NumberOfMessagesReceived": 0,
            "NumberOfMessagesDeleted": 0,
        }.items()
    },
    **{Name("Invocations", task): always(1) for task in TASKS},
    **{Name("Errors", task): always(0) for task in TASKS},
    Name("IteratorAge", "StreamEnqueuer"): always(20, 40),
    **{Name("IteratorAge", reader): always(900) for reader in ("StreamLifecycle", "StreamOccurrences")},
    **{Name("PolledEventCount", mapping): always(4) for mapping in MAPPINGS},
    Name("CanaryNearLateness", STACK): every_other(0, 12),
    Name("CanaryFarLateness", STACK): every_other(1, 14, FAR),
    Name("5xx", "Api"): always(0),
}


def well_until(broken: Break, since: int) -> Metrics:
    """A stack that is well up to a minute."""
    values = dict(WELL)
    for name, after in broken.items():
        values[name] = _changed(WELL.get(name, always()), after, since)
    return Metrics(values)


def _changed(before: Values, after: Values | None, since: int) -> Values:
    return lambda minute: before(minute) if minute < since else (after(minute) if after else ())


def of_stack(metric: str, values: Values | None) -> Break:
    return {Name(metric, STACK): values}


CANARIES_GONE: Final[Break] = {**of_stack("CanaryNearLateness", None), **of_stack("CanaryFarLateness", None)}
CANARIES_LATE: Final[Break] = {
    **of_stack("CanaryNearLateness", every_other(0, 4_000)),
    **of_stack("CanaryFarLateness", every_other(1, 4_000)),
}
SOMEBODY: Final = of_stack("Attention", every_other(0, 1))


def waits_in(queue: str, since: int = 100) -> Break:
    return {Name("ApproximateAgeOfOldestMessage", queue): ages(since)}


def unread(queue: str) -> Break:
    """What comes to it waits."""
    never = {Name(one, queue): always(0) for one in ("NumberOfEmptyReceives", "NumberOfMessagesReceived")}
    return {**never, **waits_in(queue)}


def once_in(seconds: int) -> Values:
    return lambda minute: (1,) if minute * 60 % seconds < 60 else ()


def left_out_of_the_age(queue: str, visibility: int, since: int = 100) -> Break:
    """A message that comes back: SQS leaves what was received three times out of the age of the oldest one."""
    grows = ages(since)
    seen = 2 * visibility // 60
    return {
        Name("ApproximateAgeOfOldestMessage", queue): lambda minute: grows(minute) if minute - since < seen else (0,)
    }


def fails_in(queue: str) -> Break:
    """What comes back again and again, and its function counts what is left for long."""
    return {**left_out_of_the_age(queue, 120), **SOMEBODY}


def dies_in(queue: str, function: str) -> Break:
    """What its function dies of before it can count anything, at each visibility timeout."""
    return {**left_out_of_the_age(queue, 120), Name("Errors", function): once_in(120)}


def behind(reader: str) -> Break:
    return {Name("IteratorAge", reader): always(1_000_000)}


COMES_BACK: Final[Break] = {Name("ApproximateNumberOfMessagesNotVisible", "SuspectsQueue"): always(1)}

# By the entry of the runbook. A name in braces is that of each action in use.
BREAKS: Final[Mapping[str, Break]] = {
    "CanaryNearAlarm": of_stack("CanaryNearLateness", None),
    "CanaryFarAlarm": of_stack("CanaryFarLateness", None),
    "AttentionAlarm": SOMEBODY,
    "LatenessAlarm": CANARIES_LATE,
    "DelayerQueueOldAlarm": {**CANARIES_LATE, **waits_in("DelayerQueue")},
    "ExecutorQueueOldAlarm": waits_in("ExecutorhttprequestQueue"),
    "DelayerQueueDeepAlarm": CANARIES_LATE,
    "ExecutorQueueDeepAlarm": waits_in("ExecutorhttprequestQueue"),
    "DelayerQueueReturnedAlarm": CANARIES_GONE,
    "ExecutorQueueReturnedAlarm": SOMEBODY,  # what is left counts, if it was there for half an hour
    "ExecutorErrorsAlarm": {  # a message of which it dies before it can count anything, at each visibility timeout
        **left_out_of_the_age("ExecutorhttprequestQueue", 510),
        Name("Errors", "Executorhttprequest"): once_in(510),
    },
    "DelayerQueueNotPolledAlarm": {**CANARIES_GONE, **unread("DelayerQueue")},
    "ExecutorQueueNotPolledAlarm": unread("ExecutorhttprequestQueue"),
    "StreamNotPolledAlarm": {**CANARIES_GONE, Name("IteratorAge", "StreamEnqueuer"): None},
    "IteratorAgeAlarm": {**CANARIES_LATE, Name("IteratorAge", "StreamEnqueuer"): always(90_000)},
    "StreamDiscardedAlarm": CANARIES_GONE,  # for the 23 hours before
    "StreamUndeliveredAlarm": CANARIES_GONE,
    "StreamDroppedAlarm": CANARIES_GONE,
    "RelaxedIteratorAgeAlarm": {Name("IteratorAge", "RelaxedClaimer"): always(3_400_000)},
    "RelaxedDiscardedAlarm": {Name("IteratorAge", "RelaxedClaimer"): always(3_600_000)},
    "RelaxedUndeliveredAlarm": {Name("IteratorAge", "RelaxedClaimer"): always(3_600_000)},
    "RelaxedDroppedAlarm": {Name("IteratorAge", "RelaxedClaimer"): always(3_600_000)},
    "NotBroughtBackAlarm": SOMEBODY,
    "MinuteTaskMissingAlarm": {**CANARIES_GONE, Name("Invocations", "Task1MinuteEnqueuer"): None},
    "MinuteTaskErrorsAlarm": {**of_stack("CanaryFarLateness", None), Name("Errors", "Task1MinuteEnqueuer"): always(1)},
    "SweepHeldAlarm": of_stack("CanaryFarLateness", None),
    "SweepQueueNotPolledAlarm": unread("SweepQueue"),
    "SweepBehindAlarm": waits_in("SweepQueue"),
    "SweepDeadLetterQueueAlarm": fails_in("SweepQueue"),  # for the 33 hours before
    "SweepBucketEnqueuerErrorsAlarm": dies_in("SweepQueue", "SweepBucketEnqueuer"),
    "ApiServerErrorsAlarm": {Name("5xx", "Api"): always(1)},
    "UnexpectedAlarm": SOMEBODY,
    "GroupDeadLetterQueueAlarm": fails_in("GroupQueue"),
    "GroupDeadLetterQueueForgottenAlarm": fails_in("GroupQueue"),
    "DeadLetteredAlarm": SOMEBODY,
    "NotHandledAlarm": SOMEBODY,
    "SuspectsAlarm": COMES_BACK,
    "SeriesFailedAlarm": SOMEBODY,
    "SeriesBehindAlarm": waits_in("SeriesQueue"),
    "SeriesQueueNotPolledAlarm": unread("SeriesQueue"),
    "UndecidedOldAlarm": SOMEBODY,
    "NotDecidedAlarm": SOMEBODY,  # what waits for a quarter of an hour counts
    "TimeRefusedAlarm": SOMEBODY,
    "PolicyBehindAlarm": SOMEBODY,
    "PolicyQueueNotPolledAlarm": SOMEBODY,
    "TimingNotPolledAlarm": SOMEBODY,
    "PoliciesDeadLetterQueueAlarm": SOMEBODY,
    "EventsRefusedAlarm": SOMEBODY,
    "LifecycleIteratorAgeAlarm": behind("StreamLifecycle"),
    "OccurrencesIteratorAgeAlarm": behind("StreamOccurrences"),
    **{
        f"Lifecycle{table}DroppedAlarm": behind("StreamLifecycle")  # for a day before
        for table in ("Schedules", "Relaxed", "Waiting", "Ledger")
    },
    "LifecycleOccurrencesDroppedAlarm": behind("StreamOccurrences"),
    "JournalBehindAlarm": waits_in("JournalQueue"),
    "JournalQueueNotPolledAlarm": unread("JournalQueue"),
    "JournalDeadLetterQueueAlarm": fails_in("JournalQueue"),
    "JournalDeadLetterQueueForgottenAlarm": fails_in("JournalQueue"),
    "LifecycleJournalErrorsAlarm": dies_in("JournalQueue", "LifecycleJournal"),
}
# What only `all` rings for. No schedule is late, lost or early by it, but for what a person has switched off.
NOT_ESSENTIAL: Final[Mapping[str, str]] = {
    "FailedAlarm": "a target refused; its owner reads it in GET, in the list, and in an event",
    "GroupQueueNotPolledAlarm": "the members of a group fire until they are cancelled; the state of the job says so",
    "GroupBehindAlarm": "the members of a group fire until they are cancelled; the state of the job says so",
    "TaskDeadLetterQueueAlarm": "the next tick does the same work; if none comes, no canary arrives",
    "RelaxedNotPolledAlarm": "a person has disabled the mapping, or taken a right; the doctor says so, the pages warn",
    "SeriesHealedAlarm": "the series go on, four minutes late",
    "SeriesTaskMissingAlarm": "events make series go on; the rule that starts it starts the canaries, too",
    "SeriesTaskErrorsAlarm": "events make series go on; what waits for a place is late, and the doctor says so",
    "TimingTaskMissingAlarm": "a second fault has to come: the stream asks for times",
    "TimingDroppedAlarm": "the net has found what waits, for 23 hours",
    "EventsUndeliveredAlarm": "a subscriber of yours; of ours, the journal and series are watched",
    **{
        f"Lifecycle{table}NotPolledAlarm": "somebody has disabled the mapping; histories stop, and the doctor says so"
        for table in ("Schedules", "Relaxed", "Waiting", "Ledger", "Occurrences")
    },
    "SubscriberBehindAlarm": "schedules fire; whoever writes a subscriber watches it",
    "SubscriberRefusesAlarm": "schedules fire; whoever writes a subscriber watches it",
    "SubscriberQueueNotPolledAlarm": "schedules fire; whoever writes a subscriber watches it",
    "SubscribersDeadLetterQueueAlarm": "schedules fire; whoever writes a subscriber watches it",
    "SubscribersDeadLetterQueueForgottenAlarm": "schedules fire; whoever writes a subscriber watches it",
}
