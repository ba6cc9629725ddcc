"""The options say what is verified, and where."""

from dataclasses import dataclass, field
from typing import Final

PARTS: Final = (
    "concurrency",
    "events",
    "pollers",
    "near",
    "bulk",
    "races",
    "refused",
    "signatures",
    "redrive",
    "series",
    "policies",
    "relaxed",
    "far",
    "canary",
)
LONGEST_BATCH: Final = 100


@dataclass(frozen=True, kw_only=True)
class Options:
    """They say what is checked, and where."""

    url: str  # of the API, without a slash at its end
    token: str = field(default="", repr=False)  # of a JWT; empty for none
    stack: str = "delayer"  # CloudFormation's name of it
    parts: tuple[str, ...] = PARTS
    bulk: int = LONGEST_BATCH  # schedules in the one batch
    allowed_ms: int = 1000  # lateness of a single schedule; five times as much within the batch
    canary_seconds: int = 240  # how long to wait for the canary's first figure
