"""What a team has added to the template: functions that Delayer is not released with, and their policies."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from tests.cfn import attached_to, expanded, functions, listed, logical, resources, statements

SHIPPED: Final = frozenset(
    [
        *(f"executor-{kind}" for kind in ("canary", "remote", "http-request", "sqs-send")),
        *(f"executor-{kind}" for kind in ("sns-publish", "event-put", "lambda-invoke", "step-start")),
        "subscriber-failed-webhook",
        "policy-next-business-hour",
        "policy-spread",
    ]
)
LOOPS: Final = ("executor-", "subscriber-", "policy-")
TOPICS: Final = frozenset({"LifecycleTopic", "AlarmTopic"})
NAMED_BY_THE_STACK: Final = frozenset({"dynamodb", "sqs", "sns", "s3", "lambda"})  # where Delayer's names begin so


def is_added(function: str) -> bool:
    """Whether the loops make it for a team."""
    return function.startswith(LOOPS) and function not in SHIPPED


def stanza(function: str) -> list[dict[str, Any]]:
    """The statements of the policies beside the loop, for a function that was added."""
    if not is_added(function):
        return []
    attached = attached_to(logical(functions()[function]["Role"]))
    return [one for policy in attached for one in policy["PolicyDocument"]["Statement"]]


def compared(function: str) -> list[dict[str, Any]]:
    """What a function may do, but for what its team has allowed it: the part that is compared with the code."""
    of_its_own = stanza(function)
    return [one for one in statements(function) if one not in of_its_own]


def own_resources() -> set[str]:
    """Delayer's own: what its functions may use or read from, its queues, its topics, and the functions themselves."""
    used = [
        resource
        for function in functions()
        for statement in compared(function)
        for resource in listed(statement["Resource"])
    ]
    tagged = {name for name, queue in resources("AWS::SQS::Queue").items() if "delayer:queue" in str(queue.get("Tags"))}
    granted = {name for one in used for name in names_in(one)} & set(expanded()["Resources"])
    return granted | tagged | TOPICS | set(resources("AWS::Serverless::Function"))


def faults(statement: dict[str, Any], own: Iterable[str]) -> list[str]:
    """Why a statement of a team allows too much; nothing if it is narrow."""
    if statement.get("Effect") == "Deny":
        return []
    if missing := {"Action", "Resource"} - set(statement):
        return [f"it has no {', '.join(sorted(missing))}: name the calls and the resources"]
    actions = [f"{one}: name each call" for one in listed(statement["Action"]) if "*" in one]
    return [*actions, *(fault for one in listed(statement["Resource"]) for fault in _faults_of(one, set(own)))]


def _faults_of(resource: Any, own: set[str]) -> Iterator[str]:
    for name in sorted(names_in(resource) & own):
        yield f"{name} is Delayer's own"
    for text in _texts(resource):
        if is_wide(text):
            yield f"{text}: name the resource"
        service = text.split(":")[2] if text.startswith("arn:") and text.count(":") > 2 else ""
        if service in NAMED_BY_THE_STACK and "${AWS::StackName}" in text:
            yield f"{text}: Delayer's own names begin so; use the ARN of the resource"


def is_wide(text: str) -> bool:
    """Whether an ARN names all resources of a kind: a star, or one in place of the beginning of a name."""
    if not text.startswith("arn:"):
        return text.startswith(("*", "?"))
    if text.count(":") < 5:
        return True
    service, inside = text.split(":")[2], re.sub(r"\$\{[^}]*\}", "x", text).split(":", 5)[5]
    _, kind_ends, name = re.split(r"([:/])", inside, maxsplit=1) if re.search("[:/]", inside) else ("", "", inside)
    return (inside if service == "s3" or not kind_ends else name).startswith(("*", "?")) or not name


def names_in(resource: Any) -> set[str]:
    """The logical names in a reference, wherever they stand in it."""
    match resource:
        case {"Ref": str(name)}:
            return {name}
        case {"Fn::GetAtt": str(name)}:
            return {name.partition(".")[0]}
        case {"Fn::Sub": str(text)}:
            return {name.partition(".")[0] for name in re.findall(r"\$\{([A-Za-z0-9]+(?:\.\w+)?)\}", text)}
        case dict():
            return {name for one in resource.values() for name in names_in(one)}
        case list():
            return {name for one in resource for name in names_in(one)}
    return set()


def _texts(resource: Any) -> Iterator[str]:
    match resource:
        case str():
            yield resource
        case {"Fn::Sub": str(text)} | {"Fn::Sub": [str(text), *_]}:
            yield text
        case {"Fn::If": [_, *branches]}:
            for one in branches:
                yield from _texts(one)
