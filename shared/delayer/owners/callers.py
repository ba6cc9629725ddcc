"""A deployment says who calls the API: the functions of the API get it from here (ADR 0108)."""

from collections.abc import Callable
from typing import Final

from attrs import frozen

from delayer.actions.rules.registration import CannotRegister, Command, MadeResource
from delayer.engines.ports import Clock, Observer
from delayer.owners.admission import ClaimRefused, decide_claim, taken_back
from delayer.owners.ports import KeepsOwnerClaim
from delayer.records.ports import Control
from delayer.schedule.instants import Millis, start_of

CLAIM: Final = "OwnerClaim"  # the property by which such a request is told from the registration of an action
NONE: Final = "-"  # in place of a scope that is not asked for


@frozen(kw_only=True)
class Callers:
    """One request of CloudFormation: about the callers, or about something else."""

    clock: Clock
    owner_claim: KeepsOwnerClaim
    control: Control
    stack_id: str
    observer: Observer
    otherwise: Callable[[Command], str]

    def __call__(self, command: Command) -> str | MadeResource:
        """Raises CannotRegister, or Unavailable."""
        if CLAIM not in command.properties:
            return self.otherwise(command)
        if command.stack != self.stack_id:
            raise CannotRegister("the callers of the API are those of Delayer's own stack")
        if command.request == "Delete":
            return self._deleted(command)
        self._keep(command)
        return MadeResource(physical_id="callers", data={"Setting": _setting(command)})

    def _deleted(self, command: Command) -> str:
        back = taken_back(self.owner_claim.owner_claim(), self.clock.now())
        if back:
            self.owner_claim.write_owner_claim(back)
        return command.physical_id

    def _keep(self, command: Command) -> None:
        known, now = self.owner_claim.owner_claim(), self.clock.now()
        decided = decide_claim(
            known,
            command.text(CLAIM),
            command.text("Issuer"),
            confirmed=command.text("AllowOwnerClaimChange"),
            is_jwt=command.text("Authorization") == "JWT",
            ids_since=self._ids_since(),
            now=now,
        )
        if isinstance(decided, ClaimRefused):
            raise CannotRegister(decided.reason)
        if decided != known:
            self.owner_claim.write_owner_claim(decided)
            self.observer.note("owner claim", claim=decided.claim, issuer=decided.issuer, before=decided.before)

    def _ids_since(self) -> Millis | None:
        """The row is written before the first id is issued."""
        shards = self.control.shards()
        return start_of(shards.since) if shards else None


def _setting(command: Command) -> str:
    """Returns the setting that `authorization` of `delayer.http.requests` reads."""
    words = (command.text(name) or NONE for name in ("Authorization", CLAIM, "ReadScope", "WriteScope"))
    return " ".join(words)
