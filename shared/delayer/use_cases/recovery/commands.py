"""The commands of an operator, as the payload of an invocation."""

from typing import Any, Final

from attrs import evolve

from delayer.core.ledger.lifecycle import IllegalTransition
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.recovery.redrive import OPERATOR, Impossible, Redrive

MAX_NAME: Final = 200
USAGE = (
    'give {"command": "list", "prefix": "", "after": ""} '
    'or {"command": "show" | "redrive" | "discard", "key": "<from list>", "by": "<who you are>"}'
)


def respond(redrive: Redrive, event: Any) -> dict[str, Any]:
    """{"ok": true, "result": …}, or {"ok": false, "error": a sentence}. Never raises for a wrong command."""
    try:
        return {"ok": True, "result": _carry_out(evolve(redrive, by=_operator(event)), event)}
    except (Impossible, Unavailable, IllegalTransition) as error:
        return {"ok": False, "error": str(error)}


def _operator(event: Any) -> str:
    """As the command says; the trail of who invoked the function is CloudTrail's."""
    name = event.get("by", "") if isinstance(event, dict) else ""
    if not (isinstance(name, str) and name.isprintable() and len(name) <= MAX_NAME):
        raise Impossible(f"by: give at most {MAX_NAME} printable characters")
    return f"{OPERATOR}: {name}" if name else OPERATOR


def _carry_out(redrive: Redrive, event: Any) -> Any:
    given = event if isinstance(event, dict) else {}
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
