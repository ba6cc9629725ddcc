"""The schedulers by name, in the order in which they are measured."""

OURS = "delayer"
NAMES = (
    "celery",
    "celery-minute",
    "celery-defaults",
    "apscheduler",
    "apscheduler-defaults",
    "delayer-aws",
    OURS,
)
