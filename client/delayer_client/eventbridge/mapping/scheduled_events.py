"""The event that a scheduled rule sends. It is known beforehand but for its id, so paths and templates can be
worked out.

Source: the user guide of EventBridge, "Amazon EventBridge input transformation".
"""

import json
import re
from typing import Any, Final

from delayer_client.eventbridge.mapping.outcome import CannotMove, Note
from delayer_client.eventbridge.mapping.payloads import NO_ID, TIME_NOTE, compact, scheduled_event
from delayer_client.eventbridge.reading.sources import InputTransformer, Rule, RuleTarget

_STEP = re.compile(r"\.([\w/-]+)|\[(\d+)\]|\[['\"]([^'\"]+)['\"]\]", re.ASCII)
_VARIABLE = re.compile(r"<([A-Za-z0-9_.-]+)>", re.ASCII)
_UNKNOWN: Final = "the event's `id` is made by EventBridge when the rule fires"


def input_of_rule(rule: Rule, target: RuleTarget) -> tuple[str, tuple[Note, ...]]:
    """The text that a target of a rule would get. Raises CannotMove."""
    if target.input is not None:
        return target.input, ()
    if not rule.arn:
        raise CannotMove("Target.Input", "without one the event is sent, and the ARN of the rule in it was not read")
    event = scheduled_event(rule.arn, "aws.events", {}, None)
    if target.input_transformer is not None:
        text = transformed(event, target.input_transformer, rule)
        worked_out = Note("Target.InputTransformer", "its result is worked out now, and stored as the payload")
        return text, (worked_out, TIME_NOTE) if event["time"] in text else (worked_out,)
    if target.input_path not in (None, "$"):
        value = value_at(event, target.input_path or "$", "Target.InputPath")
        return compact(value), (TIME_NOTE,) if value == event["time"] else ()
    return compact(event), (NO_ID, TIME_NOTE)


def value_at(event: Any, path: str, field: str) -> Any:
    """The value that a JSON path leads to. Raises CannotMove."""
    value, at = event, 1
    if not path.startswith("$"):
        raise CannotMove(field, f"{path} is no JSON path")
    if path == "$":
        raise CannotMove(field, f"it takes the whole event, and {_UNKNOWN}")
    while at < len(path):
        step = _STEP.match(path, at)
        if not step:
            raise CannotMove(field, f"{path} is not understood from character {at + 1} on")
        name, at = step[1] or step[3], step.end()
        if value is event and name == "id":
            raise CannotMove(field, f"it takes $.id, and {_UNKNOWN}")
        value = _inside(value, name if name is not None else int(step[2]), path, field)
    return value


def transformed(event: Any, transformer: InputTransformer, rule: Rule) -> str:
    """The template, with the values of the event put in. Raises CannotMove."""
    field = "Target.InputTransformer"
    values: dict[str, Any] = {"aws.events.rule-arn": rule.arn, "aws.events.rule-name": rule.name}
    for name, path in transformer.input_paths_map.items():
        values[name] = value_at(event, path, field)
    template, parts, at = transformer.input_template, [], 0
    for match in _VARIABLE.finditer(template):
        parts.append(template[at : match.start()])
        parts.append(_written(match[1], values, is_text=_is_within_text("".join(parts))))
        at = match.end()
    return "".join([*parts, template[at:]])


def _written(name: str, values: dict[str, Any], *, is_text: bool) -> str:
    """Within a text without quotes, elsewhere as JSON."""
    field = "Target.InputTransformer"
    if name.startswith("aws.events.event"):
        raise CannotMove(field, f"its template has <{name}>, and {_UNKNOWN}")
    if name not in values:
        raise CannotMove(field, f"its template has <{name}>, which its paths do not name")
    value = values[name]
    if not is_text:
        return compact(value)
    if not isinstance(value, str):
        raise CannotMove(field, f"its template has <{name}> within a text, and that is an object or a list")
    return json.dumps(value, ensure_ascii=False)[1:-1]


def _is_within_text(before: str) -> bool:
    """Whether a text has been begun and not ended."""
    return len(re.findall(r'(?<!\\)(?:\\\\)*"', before)) % 2 == 1


def _inside(value: Any, step: str | int, path: str, field: str) -> Any:
    if isinstance(value, dict) and step in value:
        return value[step]
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        return value[step]
    raise CannotMove(field, f"{path} leads nowhere in the event of a scheduled rule")
