"""Dead letters and failed schedules: list, show, redrive, discard, one or many (ADR 0021, ADR 0077)."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from delayer_client.operator.bulk import Ask, Bulk, BulkResult, Command, Reason, Where

SAMPLE = 3  # keys that a group shows


@dataclass(frozen=True, kw_only=True)
class DeadLetter:
    """One dead letter, as the list shows it."""

    key: str
    schedule_id: str  # empty if it cannot be read, or holds records of the stream
    reason: str
    source: str  # the function that stored it; empty if it does not say
    at: str  # when it was stored, RFC 3339; empty if it does not say


@dataclass(frozen=True, kw_only=True)
class Page:
    """Up to 100 of them."""

    letters: tuple[DeadLetter, ...]
    after: str  # for the next page; empty if this is the last


class DeadLetters:
    """Of one stack. Each call raises Refused, Interrupted, NotAllowed, NoStack, NoCredentials."""

    def __init__(self, ask: Ask) -> None:
        self.ask = ask

    def page(self, prefix: str = "", after: str = "") -> Page:
        """One page of those whose keys begin so: `failed/`, `dead-lettered/`, or empty for all."""
        answer = self.ask({"command": "list", "prefix": prefix, "after": after})
        return Page(letters=tuple(map(_letter, answer["deadLetters"])), after=answer.get("next", ""))

    def list(self, prefix: str = "") -> Iterator[DeadLetter]:
        """All of them, page by page, as they are asked for."""
        after, more = "", True
        while more:
            page = self.page(prefix, after)
            yield from page.letters
            after, more = page.after, bool(page.after)

    def show(self, key: str) -> dict[str, Any]:
        """One, with its `body`, whose secrets are masked."""
        return self.ask({"command": "show", "key": key})

    def redrive(self, key: str, *, by: str = "") -> dict[str, Any]:
        """Sends the schedules of one on their way again: `schedules` with their outcomes, `stillStored`."""
        return self._one("redrive", key, by)

    def discard(self, key: str, *, by: str = "") -> dict[str, Any]:
        """Deletes one, and ends as dropped what has no other end: `schedules` with their outcomes."""
        return self._one("discard", key, by)

    def many(
        self,
        command: Command,
        where: Where,
        *,
        dry_run: bool = False,
        per_second: int = 0,
        by: str = "",
        after: str = "",
        sleep: Callable[[float], None] = time.sleep,
    ) -> Bulk:
        """A run over many that is not begun: call it, or take its `steps()`."""
        return Bulk(
            ask=self.ask,
            command=command,
            where=where,
            dry_run=dry_run,
            per_second=per_second,
            by=by,
            after=after,
            sleep=sleep,
        )

    def count(self, command: Command, where: Where) -> BulkResult:
        """Says what `many` would do, without doing it: how many, why they were stored, what would be left as it is."""
        return self.many(command, where, dry_run=True)()

    def redrive_many(
        self, where: Where, *, by: str = "", on_progress: Callable[[BulkResult], None] | None = None
    ) -> BulkResult:
        """All that `where` is about. Raises Unfinished, too."""
        return self.many("redrive", where, by=by)(on_progress)

    def discard_many(
        self, where: Where, *, by: str = "", on_progress: Callable[[BulkResult], None] | None = None
    ) -> BulkResult:
        """All that `where` is about. Raises Unfinished, too."""
        return self.many("discard", where, by=by)(on_progress)

    def _one(self, command: Command, key: str, by: str) -> dict[str, Any]:
        return self.ask({"command": command, "key": key} | ({"by": by} if by else {}))


def grouped(letters: Iterable[DeadLetter]) -> list[Reason]:
    """By the reason for which they were stored, the most frequent first."""
    groups: dict[str, list[str]] = {}
    for letter in letters:
        groups.setdefault(letter.reason, []).append(letter.key)
    reasons = [Reason(text=text, number=len(keys), sample=tuple(keys[:SAMPLE])) for text, keys in groups.items()]
    return sorted(reasons, key=lambda reason: (-reason.number, reason.text))


def _letter(entry: dict[str, str]) -> DeadLetter:
    return DeadLetter(
        key=entry["key"],
        schedule_id=entry.get("scheduleId", ""),
        reason=entry.get("reason", ""),
        source=entry.get("source", ""),
        at=entry.get("at", ""),
    )
