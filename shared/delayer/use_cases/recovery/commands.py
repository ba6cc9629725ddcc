"""The commands of an operator, as the payload of an invocation."""

from typing import Any, Final

from delayer.core.ledger.lifecycle import IllegalTransition
from delayer.core.recovery.selecting import WrongOrder, admit_order
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.recovery.bulk import Bulk
from delayer.use_cases.recovery.redrive import Impossible

USAGE: Final = (
    'give {"command": "list", "prefix": "", "after": ""} '
    'or {"command": "show" | "redrive" | "discard", "key": "<from list>"} '
    'or {"command": "redrive" | "discard", "where": {"prefix": "", "reason": "", "from": "", "until": "", "owner": "", '
    '"group": ""}, "dryRun": false, "perSecond": 50, "after": ""}'
)


def respond(bulk: Bulk, event: Any) -> dict[str, Any]:
    """{"ok": true, "result": …}, or {"ok": false, "error": a sentence}. Never raises for a wrong command."""
    try:
        return {"ok": True, "result": _carry_out(bulk, event)}
    except (Impossible, WrongOrder, Unavailable, IllegalTransition) as error:
        return {"ok": False, "error": str(error)}


def _carry_out(bulk: Bulk, event: Any) -> Any:
    given, redrive = event if isinstance(event, dict) else {}, bulk.redrive
    if "where" in given:
        if "key" in given:
            raise WrongOrder("give key or where, not both")
        return bulk(admit_order(given, bulk.clock.now()))
    prefix, after = given.get("prefix", ""), given.get("after", "")
    match given.get("command"), given.get("key"):
        case "list", None if isinstance(prefix, str) and isinstance(after, str):
            return redrive.list(prefix, after)
        case _, "":
            raise Impossible(USAGE)
        case "show", str(key):
            return redrive.show(key)
        case "redrive", str(key):
            return redrive.redrive(key)
        case "discard", str(key):
            return redrive.discard(key)
    raise Impossible(USAGE)
