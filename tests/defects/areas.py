"""To which part of Delayer, and to which layer of it, a change belongs. The first line that fits decides."""

import re
from typing import Final

AREAS: Final = (
    ("series", r"series|recurrence"),
    ("connections", r"connection|signing|signature|masking|sealing|id_key|keep_keys"),
    ("flow", r"/flow/|flow|limit|seats|lines|circuit|breaker|waits"),
    (
        "HTTP",
        r"aws/http/|/targets/|http|core/api/(json_body|field_errors|listing|routes|status)|remote|webhook|/history/",
    ),
    (
        "ledger",
        r"ledger|recover|redrive|dead_letter|transactions|compare_and_set|once|trials|guard|tally|stop|cancel|jobs?",
    ),
    (
        "firing",
        r"firing|enqueue|relay|execut|sweep|messaging|/events/|lanes|runtime|control|schedule_table|canary|tick|net",
    ),
    ("accept", r""),
)
LAYERS: Final = (
    ("rules", r"^shared/delayer/core/"),
    ("use cases", r"^shared/delayer/use_cases/"),
    ("adapters", r"^shared/delayer/(aws|targets|repositories|store|sqlite)/"),
    ("wiring", r"^(shared/delayer/wiring|functions)/"),
    ("IAM", r"^template.yaml$"),
)


def area_of(place: str) -> str:
    """By the path of a file; for wiring and rights, which share a file, with the function's name behind it."""
    return next(area for area, pattern in AREAS if re.search(pattern, place, re.IGNORECASE))


def layer_of(file: str) -> str | None:
    """None: nothing that is drawn from."""
    return next((layer for layer, pattern in LAYERS if re.search(pattern, file)), None)
