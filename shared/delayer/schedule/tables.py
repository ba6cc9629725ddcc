"""Names the tables, and which of them have a stream. On AWS each has the stack's name before it (template.yaml)."""

from typing import Final

SCHEDULES: Final = "schedules"
RELAXED: Final = "relaxed"
WAITING: Final = "waiting"
LEDGER: Final = "ledger"
REGISTRY: Final = "registry"
CONTROL: Final = "control"
JOURNAL: Final = "journal"
STREAMED: Final = (SCHEDULES, RELAXED, WAITING)
OCCURRENCES: Final = (
    "occurrence",
    "relaxed-occurrence",
)  # kinds of rows of the ledger, by the template's filters
