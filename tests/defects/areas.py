"""To which part of Delayer, and to which layer of it, a change belongs. The first line that fits decides."""

import re
from pathlib import PurePosixPath
from typing import Final

from tests import rooms

AREAS: Final = (
    ("series", r"series|recurrence"),
    ("connections", r"connection|signing|signature|masking|sealing|id_key|keep_keys"),
    ("flow", r"/flow/|flow|limit|seats|lines|circuit|breaker|waits"),
    (
        "HTTP",
        r"/targets/|http|remote|webhook|/history/",
    ),
    (
        "ledger",
        r"ledger|recover|redrive|dead_letter|transactions|compare_and_set|once|trials|guard|tally|stop|cancel|jobs?",
    ),
    (
        "firing",
        r"firing|enqueue|relay|execut|sweep|messaging|/events/|lanes|runtime|control|/records/|canary|tick|net",
    ),
    ("accept", r""),
)
LAYERS: Final = {  # by the layers of the package; ports do nothing, and what is for tests is not asked about
    "rules": {"rules"},
    "use cases": {"use_cases"},
    "adapters": {
        "engines.process",
        "engines.store",
        "engines.aws",
        "engines.sqlite",
        "repository",
        "routes",
        "lambdas",
        "targets",
        "serve",
    },
    "wiring": {"wiring"},
    "IAM": set[str](),
}
PACKAGE: Final = "shared/delayer/"


def area_of(place: str) -> str:
    """By the path of a file; for wiring and rights, which share a file, with the function's name behind it."""
    return next(area for area, pattern in AREAS if re.search(pattern, place, re.IGNORECASE))


def layer_of(file: str) -> str | None:
    """None: nothing that is drawn from."""
    if file.startswith("functions/"):
        return "wiring"
    if not file.startswith(PACKAGE):
        return None
    module = ".".join(PurePosixPath(file.removeprefix("shared/")).with_suffix("").parts)
    return next((layer for layer, those in LAYERS.items() if rooms.layer_of(module) in those), None)
