"""Calls of the AWS CLI, compared with botocore's descriptions of the services: they are AWS's own."""

import itertools
import json
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, Self

import botocore.session
import jmespath  # type: ignore[import-untyped]
from attrs import frozen
from botocore import xform_name
from botocore.exceptions import UnknownServiceError
from botocore.model import OperationModel, Shape
from botocore.validate import ParamValidator

from delayer.dead_letters import commands as dead_letters
from delayer.signing import id_keys
from tests.cfn import ROOT

# Options of the AWS CLI itself, for every call: with a value, or without.
EVERYWHERE: Final = {
    "--output": True,
    "--query": True,
    "--region": True,
    "--profile": True,
    "--cli-binary-format": True,
    "--no-cli-pager": False,
}
# Options that the AWS CLI has given another name than the service.
RENAMED: Final = {"Subscribe": {"--notification-endpoint": "Endpoint"}}
# Commands of the AWS CLI that are no calls of a service, with their options.
OF_THE_CLI: Final = {
    ("configure", "export-credentials"): {"--profile", "--format"},
}
STACK: Final = "delayer-"
COMMANDS: Final = {"operator-dead-letters": dead_letters.USAGE, "operator-id-key": id_keys.USAGE}
OF_A_CUSTOM_RESOURCE: Final = {
    "RequestType", "RequestId", "LogicalResourceId", "StackId", "PhysicalResourceId", "ResourceProperties",
}  # fmt: skip


@cache
def _session() -> Any:
    return botocore.session.Session()


def wrong_in(call: list[str]) -> list[str]:
    """What AWS's CLI would refuse, or a function of ours; nothing if all is right."""
    return list(_wrong(call))


def _wrong(call: list[str]) -> Iterator[str]:
    service, operation = call[1], call[2]
    if own := OF_THE_CLI.get((service, operation)):
        yield from (f"{one}: no such option" for one in call[3:] if one.startswith("--") and one not in own)
        return
    try:
        model = _session().get_service_model(service)
    except UnknownServiceError:
        yield f"{service}: no such service"
        return
    if operation == "wait":
        names = {xform_name(name, "-"): name for name in _session().get_waiter_model(service).waiter_names}
        if call[3] not in names:
            yield f"{service} wait {call[3]}: no such waiter"
            return
        wanted = _session().get_waiter_model(service).get_waiter(names[call[3]]).operation
        yield from _wrong_options(model.operation_model(wanted), call[4:])
        return
    operations = {xform_name(name, "-"): name for name in model.operation_names}
    if operation not in operations:
        yield f"{service} {operation}: no such operation"
        return
    yield from _wrong_options(model.operation_model(operations[operation]), call[3:])


def _wrong_options(operation: OperationModel, args: list[str]) -> Iterator[str]:
    shape = operation.input_shape
    read = _Read.of(operation.name, dict(shape.members) if shape else {}, args)
    yield from (f"{operation.name}: {one}: no such option" for one in read.unknown)
    streams = operation.has_streaming_output
    if len(read.positional) != int(streams):
        yield f"{operation.name}: {read.positional}: {'a file' if streams else 'nothing'} is expected there"
    if shape and (report := ParamValidator().validate(read.given, shape)).has_errors():
        yield f"{operation.name}: {report.generate_report()}"
    if operation.name == "Invoke":
        yield from _wrong_payload(str(read.given.get("FunctionName")), json.loads(read.given.get("Payload", "{}")))


@frozen
class _Read:
    """The arguments of a call, as the AWS CLI takes them apart."""

    given: dict[str, Any]  # by the names of the service
    positional: list[str]
    unknown: list[str]

    @classmethod
    def of(cls, operation: str, members: dict[str, Shape], args: list[str]) -> Self:
        names = {f"--{xform_name(name, '-')}": name for name in members} | RENAMED.get(operation, {})
        read, rest = cls({}, [], []), list(args)
        while rest:
            option = rest.pop(0)
            if not option.startswith("--"):
                read.positional.append(option)
            elif option in names:
                member = members[names[option]]
                read.given[names[option]] = _value(member, _taken(rest, member.type_name))
            elif option not in EVERYWHERE:
                read.unknown.append(option)
            else:
                values = _taken(rest, "string" if EVERYWHERE[option] else "boolean")
                if option == "--query":
                    jmespath.compile(values[0])
        return read


def _taken(rest: list[str], kind: str) -> list[str]:
    """The values of an option of this type, taken from the rest."""
    many = len(rest) if kind == "list" else 0 if kind == "boolean" else 1
    values = list(itertools.takewhile(lambda word: not word.startswith("--"), rest[:many])) if many != 1 else rest[:1]
    del rest[: len(values)]
    return values


def _value(shape: Any, values: list[str]) -> Any:
    """As the AWS CLI reads it: JSON, its own short form, or plain."""
    text = values[0] if values else "true"
    match shape.type_name:
        case "integer" | "long":
            return int(text)
        case "boolean":
            return text == "true"
        case "timestamp" | "string" | "blob":
            return text
        case "list" if not text.startswith("["):
            return [_value(shape.member, [one]) for one in values]
        case _ if text.startswith(("{", "[")):
            return json.loads(text)
    return _short(shape, text)


def _short(shape: Any, text: str) -> Any:
    """A=b,C=d. What the shape does not have stays, and is found by the validation."""
    parts = dict(part.split("=", 1) for part in text.split(",") if "=" in part)
    members = shape.members if shape.type_name == "structure" else dict.fromkeys(parts, getattr(shape, "value", None))
    return {name: _value(members[name], [one]) if name in members else one for name, one in parts.items()}


def _wrong_payload(function: str, payload: dict[str, Any]) -> Iterator[str]:
    """What a function of ours would not understand."""
    name = function.removeprefix(STACK)
    if not (ROOT / "functions" / name).is_dir():
        yield f"{function}: no such function"
    elif usage := COMMANDS.get(name):
        unknown = [one for one in (*payload, payload.get("command", "")) if f'"{one}"' not in usage]
        yield from (f"{function}: {one}: not in its usage" for one in unknown)
    else:
        yield from (f"{function}: {one}: unknown" for one in sorted(set(payload) - OF_A_CUSTOM_RESOURCE))
