"""Rules of series that a new series may not have: what stands goes on, though it may not be what was meant."""

import re
from collections.abc import Iterator
from typing import Final

from delayer_client.operator.doctor.entry import Entry
from delayer_client.operator.doctor.facts import RuleFacts
from delayer_client.operator.doctor.finding import Finding, Severity

AREA: Final = "rules"
DAYS: Final = frozenset({"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"})
NOWHERE: Final[frozenset[str]] = frozenset()
MONTHS: Final = frozenset({"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"})
NAMES: Final = (NOWHERE, NOWHERE, NOWHERE, MONTHS, DAYS, NOWHERE)  # by field of cron(…)

GOOD: Final = Entry(
    code="rules-accepted",
    severity=Severity.OK,
    area=AREA,
    means="All rules of series are such as are accepted now.",
)
REFUSED: Final = Entry(
    code="rule-refused-now",
    severity=Severity.WARNING,
    area=AREA,
    means="The rule of a series has a name in the wrong field: it is read as a number, and is refused of a new series.",
    do="Compare its next times with what its owner meant, and change the rule. It goes on as it is until then.",
    link="use/series.md#the-rule",
)
ENTRIES: Final = (GOOD, REFUSED)


def judge(facts: RuleFacts) -> Iterator[Finding]:
    """Each of them by its owner and id."""
    refused = [(one, misplaced(one.cron)) for one in facts.rules if misplaced(one.cron)]
    for one, names in refused:
        what = f"The series {one.series} of {one.owner} has the rule {one.cron}: {', '.join(names)} in the wrong field."
        yield REFUSED(what, about=one.series, owner=one.owner, cron=one.cron)
    if not refused:
        more = "" if facts.is_whole else " There are more series than were looked at."
        yield GOOD(f"No series has a rule that is refused of a new one.{more}")


def misplaced(cron: str) -> list[str]:
    """The names of days and months that stand in another field than their own."""
    fields = cron.removeprefix("cron(").removesuffix(")").upper().split()
    found = zip(NAMES, fields, strict=False)
    return [
        name
        for allowed, field in found
        for name in re.findall(r"\b[A-Z]{3}\b", field)
        if name in (DAYS | MONTHS) - allowed
    ]
