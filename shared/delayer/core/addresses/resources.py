"""Patterns of queues, topics, functions, state machines and event buses: by name, or by ARN (ADR 0107)."""

import re
from collections.abc import Mapping
from typing import Final

from attrs import frozen

_SERVICE: Final = {
    "queues": "sqs",
    "topics": "sns",
    "functions": "lambda",
    "stateMachines": "states",
    "eventBuses": "events",
}
_KIND: Final = {
    "functions": "function:",
    "stateMachines": "stateMachine:",
    "eventBuses": "event-bus/",
}  # before the name
_QUEUE_URL: Final = re.compile(
    r"(?:https://(?:sqs(?:-fips)?\.(?P<region>[a-z0-9-]+)\.(?:amazonaws\.com(?:\.cn)?|api\.aws)"
    r"|(?P<before>[a-z0-9-]+)\.queue\.amazonaws\.com(?:\.cn)?)"  # as it was spelled in the first years of SQS
    r"|http://(?:localhost|127\.0\.0\.1)(?::[0-9]{1,5})?)/(?P<account>[0-9]{12})/(?P<name>[A-Za-z0-9_.-]{1,80})"
)
_ARN: Final = re.compile(
    r"arn:(?P<partition>[a-z-]+):(?P<service>[a-z]+):(?P<region>[a-z0-9-]+):(?P<account>[0-9]{12}):(?P<rest>[A-Za-z0-9_./:$-]+)"
)
_PART: Final = re.compile(r"[A-Za-z0-9_.*-]+")
_ACCOUNT: Final = re.compile(r"[0-9]{12}")
_LETTER: Final = re.compile(r"[A-Za-z0-9]")
LONGEST: Final = 400  # characters of a pattern
PARTS: Final = 6  # of an ARN


@frozen(kw_only=True)
class Resource:
    """A resource of AWS as an action names it."""

    name: str
    qualifier: str = ""  # the version or the alias of a function or a state machine
    account: str = ""
    region: str = ""  # empty: it is on one machine, which has but one


@frozen(kw_only=True)
class ResourcePattern:
    """One entry of a rule. `*` stands for any characters within one part."""

    name: str
    qualifier: str = "*"
    account: str = "*"
    region: str = "*"

    def matches(self, one: Resource) -> bool:
        """Whether it allows this resource."""
        return (
            is_like(self.name, one.name)
            and is_like(self.qualifier, one.qualifier)
            and is_like(self.account, one.account)
            and (not one.region or is_like(self.region, one.region))
        )


def is_like(pattern: str, text: str) -> bool:
    """In one walk from left to right, however many `*` there are."""
    first, *rest = pattern.split("*")
    if not rest:
        return pattern == text
    *inner, last = rest
    if not text.startswith(first):
        return False
    at = len(first)
    for part in inner:
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return len(text) - len(last) >= at and text.endswith(last)


def resource_of(rule: str, text: str) -> Resource | None:
    """The resource that a text names, by its ARN or a queue by its URL; None if there is no telling."""
    if found := _QUEUE_URL.fullmatch(text) if rule == "queues" else None:
        return Resource(name=found["name"], account=found["account"], region=found["region"] or found["before"] or "")
    arn = _ARN.fullmatch(text)
    kind = _KIND.get(rule, "")
    if not arn or arn["service"] != _SERVICE[rule] or not arn["rest"].startswith(kind):
        return None
    name, _, qualifier = arn["rest"].removeprefix(kind).partition(":")
    return Resource(name=name, qualifier=qualifier, account=arn["account"], region=arn["region"])


def pattern_of(rule: str, text: str) -> ResourcePattern:
    """A pattern from its text: a name, or an ARN. Raises ValueError with what is wrong."""
    if len(text) > LONGEST:
        raise ValueError(f"longer than {LONGEST} characters")
    parts = _parts_of_arn(rule, text) if text.startswith("arn:") else {"name": text}
    for part in parts.values():
        if not _PART.fullmatch(part):
            raise ValueError("a name or an ARN, in which `*` stands for any characters of one part")
    if not _LETTER.search(parts["name"]) and not _ACCOUNT.fullmatch(parts.get("account", "")):
        raise ValueError("it matches too much: name one account in an ARN, or leave the rule out to allow all")
    return ResourcePattern(**parts)


def _parts_of_arn(rule: str, text: str) -> Mapping[str, str]:
    kind, service = _KIND.get(rule, ""), _SERVICE[rule]
    split = text.split(":", PARTS - 1)
    if len(split) < PARTS or split[2] != service or not split[5].startswith(kind):
        raise ValueError(f"an ARN of {rule} begins with arn:<partition>:{service}:<region>:<account>:{kind}")
    name, *qualifier = split[5].removeprefix(kind).split(":")
    named = {"region": split[3], "account": split[4], "name": name}
    if len(qualifier) > 1:
        raise ValueError("too many parts for an ARN")
    return {**named, "qualifier": qualifier[0]} if qualifier else named
