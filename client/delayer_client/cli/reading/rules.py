"""A rule of recurrence, as a person writes it: a cron expression, or how often."""

import re
from typing import Final

from delayer_client.cli.reading.durations import NotRead, duration, iso

CALENDAR: Final = re.compile(r"P(?=\d|T\d)[0-9YMWDTHS]+", re.IGNORECASE)  # P1M is no number of seconds
CRON: Final = re.compile(r"(?:\S+\s+){4}\S+|(?:cron|rate)\(.*\)|@\w+(?: \S+)?")
LONGEST: Final = 40  # characters of what is shown again
ALLOWED: Final = "a cron expression like '0 9 * * MON-FRI', or how often: 15m, 1d, P1M"


def rule(text: str) -> dict[str, str]:
    """`cron` or `every`, as the API takes them. Raises NotRead."""
    words = " ".join(text.split())
    if CRON.fullmatch(words):
        return {"cron": words}
    often = re.sub(r"^every\s+", "", words, flags=re.IGNORECASE)
    if CALENDAR.fullmatch(often):
        return {"every": often.upper()}
    try:
        return {"every": iso(duration(often))}
    except NotRead:
        shown = words if len(words) <= LONGEST else f"{words[:LONGEST]}…"
        raise NotRead(f"{shown!r} is no rule. It is {ALLOWED}; in quotes, because of the blanks and stars.") from None
