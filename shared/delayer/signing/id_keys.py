"""The function operator-id-key makes the first keys of the stack, and rotates them (ADR 0071, ADR 0104).

It alone writes them; all others read.
"""

from collections.abc import Callable
from typing import Any

from attrs import frozen

from delayer.actions.rules.registration import Command
from delayer.engines.ports import Clock, Observer, Unavailable
from delayer.records.ports import Control
from delayer.schedule.instants import format_instant
from delayer.schedule.schedule_id import KEY_BYTES, IdKeyNotRotated, IdKeys, first_keys, rotated
from delayer.signing.keep_keys import KeepSigningKeys, shown_keys
from delayer.signing.rules import NotRotated, SigningKeys

OF_A_STACK = "first-keys"  # the physical id of the custom resource
USAGE = 'give {"command": "ensure" | "rotate" | "show" | "rotate-signing-key"}'


@frozen(kw_only=True)
class KeepIdKeys:
    """Commands on the keys: those behind the ids, and those behind the signatures."""

    clock: Clock
    control: Control
    randomness: Callable[[int], bytes]  # n secure random bytes
    observer: Observer
    signing: KeepSigningKeys

    def __call__(self, event: Any) -> dict[str, Any]:
        """{"ok": true, "result": …}, or {"ok": false, "error": a sentence}. Never raises for a wrong command."""
        command = event.get("command") if isinstance(event, dict) else None
        try:
            match command:
                case "ensure":
                    return {"ok": True, "result": shown(self.ensure()) | _signing(self.signing.ensure())}
                case "rotate":
                    return {"ok": True, "result": shown(self.rotate())}
                case "rotate-signing-key":
                    return {"ok": True, "result": _signing(self.signing.rotate(event.get("overlapSeconds")))}
                case "show":
                    return {"ok": True, "result": shown(self.control.id_keys()) | _signing(self.signing.show())}
        except (IdKeyNotRotated, NotRotated, Unavailable) as error:
            self.observer.warn("keys not changed", command=command, error=str(error))
            return {"ok": False, "error": str(error)}
        return {"ok": False, "error": USAGE}

    def of_a_stack(self, command: Command) -> str:
        """The custom resource that a stack has its first keys by. Raises Unavailable. Keys are never taken away."""
        if command.request != "Delete":
            self.ensure()
            self.signing.ensure()
        return command.physical_id or OF_A_STACK

    def ensure(self) -> IdKeys:
        """The keys; the first one is made if there is none. Raises Unavailable if AWS failed."""
        current = self.control.id_keys()
        return current if current.keys else self._write(first_keys(self._secret(), self.clock.now()), current)

    def rotate(self) -> IdKeys:
        """A new key, which makes ids in ten minutes. Raises IdKeyNotRotated, Unavailable if AWS failed.

        A repeat after a lost answer is refused until the new key is used: there are not two.
        """
        current = self.control.id_keys()
        return self._write(rotated(current, self._secret(), self.clock.now()), current)

    def _secret(self) -> bytes:
        return self.randomness(KEY_BYTES)

    def _write(self, keys: IdKeys, over: IdKeys) -> IdKeys:
        """If another run was faster, its keys stay."""
        if not self.control.write_id_keys(keys, over):
            return self.control.id_keys()
        self.observer.note("id key made", version=keys.newest)
        return keys


def _signing(keys: SigningKeys) -> dict[str, Any]:
    return {"signingKeys": shown_keys(keys)}


def shown(keys: IdKeys) -> dict[str, Any]:
    """Without the secrets."""
    return {
        "keys": [
            {
                "version": key.version,
                "createdAt": format_instant(key.created_at),
                "makesIdsFrom": format_instant(key.writes_from),
            }
            for key in keys.keys
        ]
    }
