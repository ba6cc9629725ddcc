"""The commands of an operator, as the payload of an invocation."""

from typing import Any

from delayer.ports import Unavailable
from delayer.use_cases.operate import Impossible, Operate

USAGE = (
    'give {"command": "list", "prefix": "", "after": ""} '
    'or {"command": "show" | "put-back" | "throw-away", "key": "<from list>"}'
)


def answered(operate: Operate, event: Any) -> dict[str, Any]:
    """{"ok": true, "result": …}, or {"ok": false, "error": a sentence}. Never raises for a wrong command."""
    try:
        return {"ok": True, "result": _carried_out(operate, event)}
    except (Impossible, Unavailable) as error:
        return {"ok": False, "error": str(error)}


def _carried_out(operate: Operate, event: Any) -> Any:
    given = event if isinstance(event, dict) else {}
    prefix, after = given.get("prefix", ""), given.get("after", "")
    match given.get("command"), given.get("key"):
        case "list", None if isinstance(prefix, str) and isinstance(after, str):
            return operate.list(prefix, after)
        case _, "":
            raise Impossible(USAGE)
        case "show", str(key):
            return operate.show(key)
        case "put-back", str(key):
            return operate.put_back(key)
        case "throw-away", str(key):
            return operate.throw_away(key)
    raise Impossible(USAGE)
