"""Where the runbook speaks of an alarm. A test compares this with docs/operate/runbook.md."""

from typing import Final

HEADINGS: Final = (
    "CanaryNearAlarm",
    "CanaryFarAlarm",
    "AttentionAlarm",
    "LatenessAlarm",
    "DelayerQueueOldAlarm, ExecutorQueueOldAlarm",
    "DelayerQueueDeepAlarm, ExecutorQueueDeepAlarm",
    "DelayerQueueReturnedAlarm, ExecutorQueueReturnedAlarm",
    "DelayerQueueNotPolledAlarm, ExecutorQueueNotPolledAlarm",
    "StreamNotPolledAlarm",
    "IteratorAgeAlarm",
    "StreamDiscardedAlarm",
    "RelaxedIteratorAgeAlarm",
    "RelaxedNotPolledAlarm",
    "RelaxedDiscardedAlarm",
    "RelaxedUndeliveredAlarm",
    "RelaxedDroppedAlarm",
    "NotBroughtBackAlarm",
    "StreamUndeliveredAlarm",
    "StreamDroppedAlarm",
    "MinuteTaskMissingAlarm",
    "MinuteTaskErrorsAlarm",
    "SweepHeldAlarm",
    "SweepQueueNotPolledAlarm, SweepBehindAlarm",
    "ApiServerErrorsAlarm",
    "UnexpectedAlarm",
    "GroupQueueNotPolledAlarm, GroupBehindAlarm",
    "GroupDeadLetterQueueAlarm",
    "DeadLetteredAlarm",
    "FailedAlarm",
    "NotHandledAlarm",
    "ExecutorErrorsAlarm",
    "SweepBucketEnqueuerErrorsAlarm, LifecycleJournalErrorsAlarm",
    "SuspectsAlarm",
    (
        "GroupDeadLetterQueueForgottenAlarm, "
        "JournalDeadLetterQueueForgottenAlarm, "
        "SubscribersDeadLetterQueueForgottenAlarm"
    ),
    "SweepDeadLetterQueueAlarm",
    "TaskDeadLetterQueueAlarm",
    "SeriesFailedAlarm",
    "SeriesBehindAlarm",
    "SeriesHealedAlarm",
    "SeriesQueueNotPolledAlarm",
    "SeriesTaskMissingAlarm",
    "SeriesTaskErrorsAlarm",
    "UndecidedOldAlarm",
    "NotDecidedAlarm",
    "TimeRefusedAlarm",
    "PolicyBehindAlarm",
    "PolicyQueueNotPolledAlarm, TimingNotPolledAlarm, TimingTaskMissingAlarm",
    "TimingDroppedAlarm",
    "PoliciesDeadLetterQueueAlarm",
    "EventsRefusedAlarm",
    "EventsUndeliveredAlarm",
    (
        "LifecycleSchedulesNotPolledAlarm, "
        "LifecycleRelaxedNotPolledAlarm, "
        "LifecycleLedgerNotPolledAlarm, "
        "LifecycleOccurrencesNotPolledAlarm, "
        "LifecycleWaitingNotPolledAlarm"
    ),
    (
        "LifecycleSchedulesDroppedAlarm, "
        "LifecycleRelaxedDroppedAlarm, "
        "LifecycleLedgerDroppedAlarm, "
        "LifecycleOccurrencesDroppedAlarm, "
        "LifecycleWaitingDroppedAlarm"
    ),
    "LifecycleIteratorAgeAlarm, OccurrencesIteratorAgeAlarm",
    "JournalBehindAlarm",
    "JournalQueueNotPolledAlarm",
    "JournalDeadLetterQueueAlarm",
    "SubscriberBehindAlarm",
    "SubscriberRefusesAlarm",
    "SubscriberQueueNotPolledAlarm",
    "SubscribersDeadLetterQueueAlarm",
)


def anchor_of(alarm: str) -> str:
    """The page and the anchor of its entry; the page alone for an alarm that it does not know."""
    for heading in HEADINGS:
        if alarm in heading.split(", "):
            return "operate/runbook.md#" + heading.lower().replace(", ", "-")
    return "operate/runbook.md"
