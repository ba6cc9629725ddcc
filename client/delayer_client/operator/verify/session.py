"""The parts of a run share these: the API, the account, the queue, and what has to be removed afterwards."""

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

from delayer_client.operator.verify.account import AWS_ERRORS, Account
from delayer_client.operator.verify.api import Api, NoAnswer
from delayer_client.operator.verify.inbox import Inbox
from delayer_client.operator.verify.instants import SECOND, Millis, format_instant
from delayer_client.operator.verify.options import Options
from delayer_client.operator.verify.results.cost import Bill
from delayer_client.operator.verify.results.findings import Finding, Lateness

POLL: Final = 0.5  # seconds

Step = Callable[[str], AbstractContextManager[object]]  # shows the title of what is done within it


def untitled(_: str) -> AbstractContextManager[object]:
    """A step that shows nothing."""
    return nullcontext()


def silent(_: str) -> None:
    """Says nothing."""


class Unexpected(Exception):
    """The API answered what it must not; the text says what."""


@dataclass(kw_only=True)
class Session:
    """One run."""

    options: Options
    api: Api
    account: Account | None  # None without credentials, or without the right to read the stack
    why_no_account: str = ""
    step: Step = untitled
    say: Callable[[str], None] = silent
    inbox: Inbox | None = None
    run: str = field(default_factory=lambda: secrets.token_hex(4))
    bill: Bill = field(default_factory=Bill)
    findings: list[Finding] = field(default_factory=list)
    lateness: list[Lateness] = field(default_factory=list)
    live: set[str] = field(default_factory=set)  # schedules that may have to be cancelled
    series: set[str] = field(default_factory=set)  # those that may have to be deleted
    dead_letters: set[str] = field(default_factory=set)  # schedules whose bodies may have to be discarded
    must_not_arrive: set[str] = field(default_factory=set)  # what was answered `cancelled`

    def setting(self, name: str, default: str) -> str:
        """A parameter of the stack; its default if the stack cannot be read."""
        return self.account.setting(name, default) if self.account else default

    def has_action(self, kind: str) -> bool:
        """Whether the parameter Actions leaves it in; taken for granted if the stack cannot be read."""
        return kind in (name.strip() for name in self.setting("Actions", kind).split(","))

    def has_policy(self, name: str) -> bool:
        """Whether the parameter Policies has it; taken for granted if the stack cannot be read."""
        return not self.account or name in self.account.setting("Policies", "").split(",")

    def has_lane(self, name: str) -> bool:
        """Whether the parameter Lanes has it, as each stack had that is older than the parameter."""
        return not self.account or name in self.account.setting("Lanes", name).split(",")

    @property
    def period(self) -> Millis:
        """The delayer period."""
        return int(self.setting("DelayerPeriod", "840")) * SECOND

    def body(self, due: Millis, action: dict[str, Any], number: int = 0, attempts: int = 3) -> dict[str, Any]:
        """A schedule to be POSTed."""
        return {
            "pointInTime": format_instant(due),
            "action": action,
            "payload": {"verify": self.run, "number": number},
            "retry": {"maxAttempts": attempts},
        }

    def schedule(self, due: Millis, action: dict[str, Any], attempts: int = 3) -> str:
        """POST one; its id. Errors: Unexpected, NoAnswer."""
        key = f"verify-{self.run}-{secrets.token_hex(4)}"
        answer = self.api.post("/schedules", self.body(due, action, attempts=attempts), key)
        if answer.status != HTTPStatus.CREATED:
            raise Unexpected(f"POST /schedules was answered {answer.why()}")
        return self.accepted(answer.content)

    def accepted(self, content: dict[str, Any]) -> str:
        """Note what was answered 201; its id."""
        schedule_id = str(content["scheduleId"])
        self.bill.schedules += 1
        self.live.add(schedule_id)
        return schedule_id

    def wait_for_state(self, schedule_id: str, wanted: str, seconds: float) -> dict[str, Any]:
        """Returns the answer of GET, once it is in this state, or when the time is over."""
        deadline = time.monotonic() + seconds
        while True:
            shown = self.api.get(f"/schedules/{schedule_id}").content
            if shown.get("state") == wanted or time.monotonic() > deadline:
                return shown
            time.sleep(POLL)

    def operate(self, command: str, **more: str) -> dict[str, Any]:
        """A command of the operator. Errors: ValueError, and those of botocore."""
        assert self.account is not None
        self.bill.operator_calls += 1
        return self.account.operate({"command": command, **more})

    def key_of_dead_letter(self, schedule_id: str) -> str | None:
        """Where the body of a schedule that failed is stored."""
        letters = self.operate("list", prefix=f"failed/{schedule_id}/")["deadLetters"]
        return str(letters[0]["key"]) if letters else None

    def clean_up(self) -> list[str]:
        """Cancel, discard and delete what is left; what could not be removed."""
        self.live -= self.inbox.arrivals().keys() if self.inbox else set()
        left = [*self._delete_series(), *self._cancel_all(), *self._discard_all()]
        if self.inbox:
            try:
                self.inbox.close()
            except AWS_ERRORS as error:
                left.append(f"the queue {self.inbox.name}: {error}")
        return left

    def _delete_series(self) -> Iterator[str]:
        for series in sorted(self.series):
            try:
                answer = self.api.delete(f"/series/{series}")
            except NoAnswer as error:
                yield f"the series {series}: {error}"
            else:
                if answer.status != HTTPStatus.OK:
                    yield f"the series {series}: {answer.why()}"

    def _cancel_all(self) -> Iterator[str]:
        for schedule_id in sorted(self.live):
            try:
                self.bill.cancels += self.api.delete(f"/schedules/{schedule_id}").status == HTTPStatus.OK
            except NoAnswer as error:
                yield f"the schedule {schedule_id}: {error}"

    def _discard_all(self) -> Iterator[str]:
        if self.account is None:
            yield from (f"the stored body of the failed schedule {one}" for one in sorted(self.dead_letters))
            return
        for schedule_id in sorted(self.dead_letters):
            try:
                if key := self.key_of_dead_letter(schedule_id):
                    self.operate("discard", key=key)
            except (ValueError, *AWS_ERRORS) as error:
                yield f"the stored body of the failed schedule {schedule_id}: {error}"
