"""What each function imports when it starts: modules of ours and of third parties, by name."""

import json
import sys
from typing import Final

from tests.cfn import functions
from tests.frozen.files import FOLDER, text_of
from tests.functions.cold_start import cold_start

COLD_STARTS: Final = FOLDER / "cold-starts.json"
BY_ALL: Final = "all functions"
OURS: Final = "delayer"
NOT_COUNTED: Final = ("__main__", "app", "__editable__", "_distutils_hack", "_virtualenv", "sitecustomize")

Starts = dict[str, frozenset[str]]


def imported(function: str) -> frozenset[str]:
    """Without Python's own library, which differs from version to version."""
    names = cold_start(function).modules
    return frozenset(
        name
        for name in names
        if name.partition(".")[0] not in sys.stdlib_module_names and not name.startswith(NOT_COUNTED)
    )


def now() -> Starts:
    """What all of them import is said once."""
    each = {function: imported(function) for function in functions()}
    common = frozenset.intersection(*each.values())
    return {BY_ALL: common, **{function: names - common for function, names in each.items()}}


def text(starts: Starts) -> str:
    """As it is on file: ours first."""
    return text_of(
        {
            function: {
                "ours": sorted(name for name in names if name.partition(".")[0] == OURS),
                "third parties": sorted(name for name in names if name.partition(".")[0] != OURS),
            }
            for function, names in starts.items()
        }
    )


def on_file() -> Starts:
    """What `text` has written."""
    stored = json.loads(COLD_STARTS.read_text(encoding="utf-8"))
    return {function: frozenset(names["ours"] + names["third parties"]) for function, names in stored.items()}


def whole(starts: Starts) -> Starts:
    """All that each function imports."""
    return {function: names | starts[BY_ALL] for function, names in starts.items() if function != BY_ALL}
