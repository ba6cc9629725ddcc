"""Who calls the API, as a deployment says it: the functions of the API get it from here (ADR 0108)."""

from collections.abc import Callable
from typing import Final

from attrs import frozen

from delayer.core.actions.command import Command, Impossible, Made
from delayer.core.owners.claim import ClaimRefused, decide_claim, taken_back
from delayer.core.schedule.instants import Millis, start_of
from delayer.ports.clock import Clock
from delayer.ports.control import ReadsShards
from delayer.ports.observer import Observer
from delayer.ports.owner_claim import KeepsOwnerClaim

CLAIM: Final = "OwnerClaim"  # the property by which such a request is told from the registration of an action
NONE: Final = "-"  # in place of a scope that is not asked for


@frozen(kw_only=True)
class Callers:
    """One request of CloudFormation: about the callers, or about something else."""

    clock: Clock
    claims: KeepsOwnerClaim
    shards: ReadsShards
    own_stack: str
    observer: Observer
    otherwise: Callable[[Command], str]

    def __call__(self, command: Command) -> str | Made:
        """Raises Impossible, or Unavailable."""
        if CLAIM not in command.properties:
            return self.otherwise(command)
        if command.stack != self.own_stack:
            raise Impossible("the callers of the API are those of Delayer's own stack")
        if command.request == "Delete":
            return self._deleted(command)
        self._keep(command)
        return Made(physical_id="callers", data={"Setting": _setting(command)})

    def _deleted(self, command: Command) -> str:
        back = taken_back(self.claims.owner_claim(), self.clock.now())
        if back:
            self.claims.write_owner_claim(back)
        return command.physical_id

    def _keep(self, command: Command) -> None:
        known, now = self.claims.owner_claim(), self.clock.now()
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
            raise Impossible(decided.reason)
        if decided != known:
            self.claims.write_owner_claim(decided)
            self.observer.note("owner claim", claim=decided.claim, issuer=decided.issuer, before=decided.before)

    def _ids_since(self) -> Millis | None:
        """The row is written before the first id is issued."""
        shards = self.shards.shards()
        return start_of(shards.since) if shards else None


def _setting(command: Command) -> str:
    """What `authorization` of `delayer.aws.http` reads."""
    words = (command.text(name) or NONE for name in ("Authorization", CLAIM, "ReadScope", "WriteScope"))
    return " ".join(words)
