"""The commands of an operator, as the payload of an invocation."""

from typing import Any, Final

from attrs import evolve

from delayer.core.ledger.lifecycle import IllegalTransition
from delayer.core.recovery.selecting import WrongOrder, admit_order
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.recovery.bulk import Bulk
from delayer.use_cases.recovery.redrive import OPERATOR, Impossible

MAX_NAME: Final = 200
USAGE: Final = (
    'give {"command": "list", "prefix": "", "after": ""} '
    'or {"command": "show" | "redrive" | "discard", "key": "<from list>", "by": "<who you are>"} '
    'or {"command": "redrive" | "discard", "where": {"prefix": "", "reason": "", "from": "", "until": "", "owner": "", '
    '"group": "", "action": ""}, "dryRun": false, "perSecond": 50, "after": "", "by": "<who you are>"}'
)


def respond(bulk: Bulk, event: Any) -> dict[str, Any]:
    """{"ok": true, "result": …}, or {"ok": false, "error": a sentence}. Never raises for a wrong command."""
    try:
        signed = evolve(bulk, redrive=evolve(bulk.redrive, by=_operator(event)))
        return {"ok": True, "result": _carry_out(signed, event)}
    except (Impossible, WrongOrder, Unavailable, IllegalTransition) as error:
        return {"ok": False, "error": str(error)}


def _operator(event: Any) -> str:
    """As the command says; the trail of who invoked the function is CloudTrail's."""
    name = event.get("by", "") if isinstance(event, dict) else ""
    if not (isinstance(name, str) and name.isprintable() and len(name) <= MAX_NAME):
        raise Impossible(f"by: give at most {MAX_NAME} printable characters")
    return f"{OPERATOR}: {name}" if name else OPERATOR


def _carry_out(bulk: Bulk, event: Any) -> Any:
    given, redrive = event if isinstance(event, dict) else {}, bulk.redrive
    if "where" in given:
        if "key" in given:
            raise WrongOrder("give key or where, not both")
        return bulk(admit_order({name: given[name] for name in given if name != "by"}, bulk.clock.now()))
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
