"""Reports which schedules were moved and which were not: as data for scripts, and as rows for a table."""

import json
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from msgspec import Struct

from delayer_client.eventbridge.applying import Outcome, State
from delayer_client.eventbridge.mapping.expressions import text_of
from delayer_client.eventbridge.mapping.outcome import Request
from delayer_client.eventbridge.reading.sources import Gap
from delayer_client.eventbridge.switching import commands, steps

COLUMNS: Final = ("at EventBridge", "expression", "state", "in Delayer", "why, or what to mind")


class Report(Struct, frozen=True, kw_only=True):
    """Of one import."""

    outcomes: tuple[Outcome, ...]
    gaps: tuple[Gap, ...] = ()  # what could not be read
    cutover: datetime | None = None

    @property
    def is_clean(self) -> bool:
        """Whether all that there is was read, and is in Delayer or can be."""
        return not self.gaps and not self.counts().keys() & {State.REFUSED, State.UNKNOWN, State.LEFT}

    def counts(self) -> Mapping[State, int]:
        """How many are in each state; only those that there are."""
        return Counter(one.state for one in self.outcomes)

    def commands(self) -> tuple[str, ...]:
        """That switch off at EventBridge what is in Delayer now."""
        return commands(self.outcomes, self.cutover)

    def steps(self) -> tuple[str, ...]:
        """In which order."""
        return steps(self.outcomes, self.cutover)

    def rows(self) -> tuple[tuple[str, str, str, str, str], ...]:
        """Under COLUMNS."""
        return tuple(_row(one) for one in self.outcomes)

    def document(self) -> dict[str, Any]:
        """For `--json`. Fields without a value are left out."""
        found: dict[str, Any] = {
            "counts": {state.value: number for state, number in sorted(self.counts().items())},
            "items": [_document(one) for one in self.outcomes],
            "notRead": [{"what": one.what, "why": one.why, "remedy": one.remedy} for one in self.gaps],
            "cutover": text_of(self.cutover) if self.cutover else None,
            "steps": [*self.steps()],
            "commands": [*self.commands()],
        }
        return {name: value for name, value in found.items() if value not in (None, [], {})}


def _row(outcome: Outcome) -> tuple[str, str, str, str, str]:
    item = outcome.item
    title = f"{'rule ' if item.source.service == 'rule' else ''}{item.source.title}"
    if isinstance(item, Request):
        said = outcome.reason or "; ".join(f"{note.field}: {note.text}" for note in item.notes)
        return title, item.source.expression, outcome.state, f"{item.kind} {item.name}", said
    return title, item.source.expression, outcome.state, "", f"{item.field}: {outcome.reason}"


def _document(outcome: Outcome) -> dict[str, Any]:
    item, source = outcome.item, outcome.item.source
    found: dict[str, Any] = {
        "service": source.service,
        "group" if source.service == "scheduler" else "eventBus": source.within,
        "source": source.name,
        "targetId": source.target_id,
        "arn": source.arn,
        "expression": source.expression,
        "state": outcome.state.value,
        "reason": outcome.reason,
        "next": [*outcome.next],
    }
    if isinstance(item, Request):
        found |= {
            "kind": item.kind,
            "name": item.name,
            "id": outcome.id,
            "request": json.loads(item.body),
            "notes": [{"field": note.field, "text": note.text} for note in item.notes],
        }
    else:
        found["field"] = item.field
    return {name: value for name, value in found.items() if value not in ("", [], None)}
