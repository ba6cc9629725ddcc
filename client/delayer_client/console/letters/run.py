"""A command for many dead letters, from its count to its end. It never takes more than was counted."""

from collections import Counter
from collections.abc import Iterator
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Literal
from uuid import uuid4

from attrs import define, field

if TYPE_CHECKING:
    from delayer_client.operator import BulkResult, DeadLetters

LONGEST: Final = 20.0  # seconds that one click may take; then it says how far it came
WHO: Final = "console"  # is written down with what is done
DONE: Final = {"redrive": "redriven", "discard": "discarded"}


@define(kw_only=True)
class Run:
    """All whose reason is exactly this one, stored before the count. Kept in the session of who has seen the count."""

    command: Literal["redrive", "discard"]
    prefix: str
    reason: str
    counted: int  # schedules; dead letters, if they are done one by one
    matched: int  # dead letters
    until: str
    keys: list[str] | None = None  # one by one: the function takes a part of a reason, and others have this one in it
    id: str = field(factory=lambda: uuid4().hex)
    after: str = ""
    done: int = 0
    looked_at: int = 0
    refused: Counter[str] = field(factory=Counter)
    problem: str = ""
    is_complete: bool = False

    def go_on(self, letters: "DeadLetters") -> None:
        """As far as one click may go."""
        began = monotonic()
        self.problem = ""
        for _ in self._each(letters) if self.keys is not None else self._together(letters):
            if monotonic() - began > LONGEST:
                break

    def _together(self, letters: "DeadLetters") -> Iterator[None]:
        bulk = letters.many(self.command, where(self.prefix, self.reason, self.until), by=WHO, after=self.after)
        before, refused, looked_at = self.done, self.refused.copy(), self.looked_at
        for result in bulk.steps():
            self.done, self.looked_at = before + result.done, looked_at + result.looked_at
            self.refused = refused + result.refused
            self.after, self.problem, self.is_complete = result.after, result.problem, result.is_complete
            yield

    def _each(self, letters: "DeadLetters") -> Iterator[None]:
        keys = self.keys or []
        while keys:
            self._note(self._answer(letters, keys[0]))
            keys.pop(0)
            self.is_complete = not keys
            yield

    def _answer(self, letters: "DeadLetters", key: str) -> dict[str, Any]:
        from delayer_client.operator.errors import Refused

        try:
            return letters.redrive(key, by=WHO) if self.command == "redrive" else letters.discard(key, by=WHO)
        except Refused as error:  # it stays as it is, and the others have their turn
            return {"schedules": [{"outcome": str(error)}]}

    def _note(self, answer: dict[str, Any]) -> None:
        self.looked_at += 1
        for one in answer.get("schedules", []):
            if one.get("outcome") == DONE[self.command] or (self.command == "discard" and one.get("settled")):
                self.done += 1
            else:
                self.refused[str(one.get("outcome"))] += 1


def where(prefix: str, reason: str, until: str = "") -> Any:
    """Selects dead letters by their reason. An empty one would select all there are."""
    from delayer_client.operator import Where

    if not reason:
        raise ValueError("Many are taken by their reason only, and these have none. Take them one by one.")
    return Where(prefix=prefix, reason=reason, until=until)


def count(letters: "DeadLetters", command: Any, prefix: str, reason: str) -> tuple[Run, "BulkResult"]:
    """Counts how many it would be, before anything is done."""
    found = letters.count(command, where(prefix, reason))
    run = Run(
        command=command, prefix=prefix, reason=reason, counted=found.done, matched=found.matched, until=found.until
    )
    if set(found.reasons) != {reason} and found.matched:
        run.keys = [one.key for one in letters.list(prefix) if one.reason == reason and one.at < found.until]
        run.counted = run.matched = len(run.keys)
    return run, found
