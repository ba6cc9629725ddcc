"""The schedulers by name, in the order in which they are measured."""

OURS = ("delayer-serve", "delayer")  # the engine on one machine, and the stack on the emulator
USUAL = ("celery", "apscheduler", "huey", "procrastinate", "delayer-aws", *OURS)  # of a small run
NAMES = (
    "celery",
    "celery-minute",
    "celery-defaults",
    "apscheduler",
    "apscheduler-defaults",
    "huey",
    "procrastinate",
    "delayer-aws",
    *OURS,
)
