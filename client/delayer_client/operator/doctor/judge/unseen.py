"""Names the things that the doctor could not look at."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, Final

from delayer_client.operator.doctor.entry import Entry
from delayer_client.operator.doctor.facts import Unseen
from delayer_client.operator.doctor.finding import Finding, Severity

ANY: Final = "any"
NO_CREDENTIALS: Final = "no AWS credentials"

NOT_ALLOWED: Final = Entry(
    code="not-allowed",
    severity=Severity.UNKNOWN,
    area=ANY,
    means="The caller's AWS credentials lack a permission that is needed to look at this.",
    do="Ask whoever administers the account for the permission, or use other credentials.",
    link="operate/doctor.md#what-it-needs",
)
NOT_SEEN: Final = Entry(
    code="not-seen",
    severity=Severity.UNKNOWN,
    area=ANY,
    means="AWS could not be asked, or did not answer: there are no credentials, no such stack, or no connection.",
    do="Do what the sentence says, and look again.",
    link="operate/doctor.md#what-it-needs",
)
ENTRIES: Final = (NOT_ALLOWED, NOT_SEEN)


def judge(facts: Any, area: str) -> Iterator[Finding]:
    """A row for the whole of the facts, or for each part of them, that could not be seen."""
    parts = [facts]
    if is_dataclass(facts) and not isinstance(facts, Unseen):
        parts = [getattr(facts, one.name) for one in fields(facts)]
    for why in dict.fromkeys(part for part in parts if isinstance(part, Unseen)):
        yield _finding(why, area)


def _finding(unseen: Unseen, area: str) -> Finding:
    if unseen.permission:
        made = NOT_ALLOWED(
            f"Not seen ({area}): the permission {unseen.permission} is missing.", about=unseen.permission
        )
    else:
        made = NOT_SEEN(f"Not seen ({area}): {unseen.why}")
    return Finding(**{**vars(made), "area": area})
