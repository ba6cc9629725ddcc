"""The detail of a ledger row: a short text of ours, whatever it was made of."""

import re
from typing import Final

MAX_DETAIL: Final = 200  # characters, one byte each, so that a row fits into one write unit
CUT: Final = "..."
UNPRINTABLE: Final = re.compile(r"[^ -~]")


def detail_of(text: str) -> str:
    """At most 200 printable ASCII characters.

    What a target or a defect has put into a text cannot make a row, an event or a log line too large, and cannot
    control the terminal that shows it.
    """
    if len(text) > MAX_DETAIL:
        text = text[: MAX_DETAIL - len(CUT)] + CUT
    return UNPRINTABLE.sub("?", text)
