"""The counts of a command for many (ADR 0077)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from attrs import define, field

from delayer.core.recovery.selecting import Order
from delayer.core.schedule.instants import format_instant
from delayer.use_cases.recovery.redrive import NO_SCHEDULE, REDRIVEN, Report

REASONS: Final = 20  # different ones that an answer shows: it stays short, however many texts there are
SAMPLE: Final = 3  # keys for each of them
OTHERS: Final = "other reasons"
DONE: Final = {"redrive": "redriven", "discard": "discarded"}  # what a command has done


@define(kw_only=True)
class Tally:
    """Of one call, or of a part of it. An object that nobody can read counts as one schedule."""

    done_up_to: str  # the last key up to which all is done and counted
    ahead: Sequence[str] = ()  # the keys that come next
    looked_at: int = 0  # objects
    matched: int = 0  # objects
    done: int = 0  # schedules
    refused: Counter[str] = field(factory=Counter)  # schedules, by the reason of the refusal
    reasons: Counter[str] = field(factory=Counter)  # objects, by the reason for which they were stored
    sample: dict[str, list[str]] = field(factory=dict)  # the first keys of each such reason

    def add(self, key: str, why_stored: str, reports: Sequence[Report], order: Order) -> None:
        """One object, and what came of its schedules."""
        self.pass_to(key)
        self.matched += 1
        known = _short(why_stored, self.reasons)
        self.reasons[known] += 1
        if len(keys := self.sample.setdefault(known, [])) < SAMPLE:
            keys.append(key)
        if not reports:
            reports = [({"outcome": NO_SCHEDULE, "settled": True}, None)]
        for one, _ in reports:
            if one["outcome"] == REDRIVEN if order.command == "redrive" else one["settled"]:
                self.done += 1
            else:
                self.refused[_short(one["outcome"], self.refused)] += 1

    def pass_to(self, key: str) -> None:
        """It, and those before it, need nothing more."""
        passed = self.ahead.index(key) + 1
        self.looked_at += passed
        self.ahead, self.done_up_to = self.ahead[passed:], key

    def shown(self, order: Order) -> dict[str, Any]:
        """As the command answers it."""
        counts: dict[str, Any] = {
            "lookedAt": self.looked_at,
            "matched": self.matched,
            DONE[order.command]: self.done,
            "refused": dict(self.refused.most_common()),
            "until": format_instant(order.selection.until),
        }
        if order.dry_run:
            reasons = {
                reason: {"matched": number, "sample": self.sample[reason]}
                for reason, number in self.reasons.most_common()
            }
            counts |= {"dryRun": True, "reasons": reasons}
        return counts


def _short(reason: str, known: Mapping[str, object]) -> str:
    return reason if reason in known or len(known) < REASONS else OTHERS
