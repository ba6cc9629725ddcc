"""A command for many dead letters: call after call, until nothing is left (ADR 0077)."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from delayer_client.operator.errors import Interrupted, OperatorError

Command = Literal["redrive", "discard"]
Ask = Callable[[Mapping[str, Any]], dict[str, Any]]
DONE: Final = {"redrive": "redriven", "discard": "discarded"}
PATIENCE: Final = 5  # calls in a row that may fail without getting any further
PAUSE: Final = 5.0  # seconds between them


@dataclass(kw_only=True)
class Where:
    """All conditions must hold; what is empty holds for everything. Raises ValueError if all of it is empty.

    Where(everything=True) is how all that is stored is meant: a condition that was left empty by mistake is not enough.
    """

    prefix: str = ""  # how the key begins: failed/ or dead-lettered/
    reason: str = ""  # a part of it, in small or capital letters
    since: str = ""  # stored at this time or later, RFC 3339
    until: str = ""  # stored before this time; empty for the beginning of the run
    owner: str = ""  # of the schedules
    group: str = ""  # of the schedules
    action: str = ""  # type of action of the schedules, such as http-request
    everything: bool = False  # also without any condition

    def __post_init__(self) -> None:
        if not self.everything and not self.as_sent():
            raise ValueError("All conditions are empty. Give one, such as reason=…, or everything=True to mean all.")

    def as_sent(self) -> dict[str, str]:
        """Returns the fields that are not empty, under the names that the function knows."""
        named = {**vars(self), "from": self.since}
        del named["since"], named["everything"]
        return {name: value for name, value in named.items() if value}


@dataclass(kw_only=True)
class Reason:
    """Why something was stored."""

    text: str
    number: int  # of dead letters
    sample: tuple[str, ...]  # some of their keys


@dataclass(kw_only=True)
class BulkResult:
    """The result of a command for many, so far."""

    command: Command
    is_dry_run: bool
    looked_at: int = 0  # dead letters
    matched: int = 0  # dead letters
    done: int = 0  # schedules that were redriven or discarded; in a dry run, that would be
    refused: Counter[str] = field(default_factory=Counter)  # schedules that stay as they are, by the reason
    reasons: dict[str, Reason] = field(default_factory=dict)  # of a dry run: why they were stored
    after: str = ""  # the last key that is done: with it, another run goes on from there
    until: str = ""  # what was stored later is not touched
    is_complete: bool = False
    problem: str = ""  # of the last call; empty if it was answered in full
    is_least: bool = False  # a call was not answered: what it did is not among the figures, which say "at least"

    @property
    def outcome(self) -> str:
        """The word for what was done to schedules: `redriven` or `discarded`."""
        return DONE[self.command]

    def add(self, answer: Mapping[str, Any]) -> None:
        """The answer to one call."""
        self.looked_at += answer["lookedAt"]
        self.matched += answer["matched"]
        self.done += answer[self.outcome]
        self.refused.update(answer["refused"])
        for text, found in answer.get("reasons", {}).items():
            known = self.reasons.setdefault(text, Reason(text=text, number=0, sample=tuple(found["sample"])))
            known.number += found["matched"]
        self.until = answer["until"]
        self.after = answer.get("next", self.after)
        self.problem = answer.get("interrupted", "")
        self.is_complete = "next" not in answer


class Unfinished(OperatorError):
    """A run that failed too often. `result` says how far it came: `after` goes on from there."""

    def __init__(self, result: BulkResult) -> None:
        super().__init__(f"{result.problem}. It came as far as {result.after or 'nothing'}; to repeat it does no harm.")
        self.result = result


@dataclass(kw_only=True)
class Bulk:
    """One run. Each step is a call, after which `result` says how far it has come."""

    ask: Ask
    command: Command
    where: Where
    dry_run: bool = False
    per_second: int = 0  # schedules; 0 for the function's own pace
    by: str = ""  # who gives the command
    after: str = ""  # go on after this key
    sleep: Callable[[float], None] = time.sleep
    result: BulkResult = field(init=False)

    def __post_init__(self) -> None:
        self.result = BulkResult(
            command=self.command, is_dry_run=self.dry_run, after=self.after, until=self.where.until
        )

    def steps(self) -> Iterator[BulkResult]:
        """The same result after each call, the last one included. Raises Unfinished, and what the first refusal was."""
        failures = 0
        while failures < PATIENCE:
            before = self.result.after
            self._call()
            yield self.result
            if self.result.is_complete:
                return
            failures = failures + 1 if self.result.problem and self.result.after == before else 0
            if self.result.problem:
                self.sleep(PAUSE)
        raise Unfinished(self.result)

    def __call__(self, on_progress: Callable[[BulkResult], None] | None = None) -> BulkResult:
        """To the end. Raises as steps does."""
        for result in self.steps():
            if on_progress:
                on_progress(result)
        return self.result

    def _call(self) -> None:
        try:
            self.result.add(self.ask(self._event()))
        except Interrupted as error:
            self.result.problem = str(error)
            self.result.is_least = not self.dry_run  # what only counts counts the same ones again
        except KeyboardInterrupt:
            self.result.is_least = not self.dry_run
            raise

    def _event(self) -> dict[str, Any]:
        # What fails again meanwhile is not met by this run: it was stored after `until`.
        where = self.where.as_sent() | ({"until": self.result.until} if self.result.until else {})
        event = {"command": self.command, "where": where, "dryRun": self.dry_run, "after": self.result.after}
        pace = {"perSecond": self.per_second} if self.per_second else {}
        return event | pace | ({"by": self.by} if self.by else {})
