"""Where the target of an action is, in the words of AWS and of URLs, and how clients spell it."""

import re
from collections.abc import Mapping
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final

from attrs import frozen

HOST: Final = "host:"  # before the name of a field: of the URL in it, only the host counts
_NUMBER: Final = re.compile(
    r"[0-9]+|0[xX][0-9A-Fa-f]*"
)  # a last label like this makes a resolver take it for an address
_SPELLED_PART: Final = re.compile(r"0[xX](?P<hex>[0-9A-Fa-f]+)|0(?P<octal>[0-7]+)|(?P<decimal>0|[1-9][0-9]*)")
_PARTS: Final = 4  # of an address
_LONGEST: Final = 20  # digits of one
_QUALIFIED: Final = ("functions", "stateMachines")  # what has versions and aliases
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


def usual(host: str) -> str:
    """In small letters; an IPv6 address, in brackets, in its shortest form.

    Empty for an address that is spelled in another way than the usual one.
    """
    if host.startswith("["):
        try:
            return f"[{IPv6Address(host[1:-1]).compressed}]"
        except AddressValueError:
            return ""
    if not _NUMBER.fullmatch(host.rpartition(".")[2]):
        return host.lower()
    try:
        return str(IPv4Address(host))
    except AddressValueError:
        return ""


def the_same(host: str) -> str:
    """As `usual`; of an address in another spelling, what a resolver takes it for. What is none stays as it is."""
    found = usual(host)
    if found.startswith("["):
        inside = IPv6Address(found[1:-1]).ipv4_mapped
        return str(inside) if inside else found
    return found or _as_resolved(host) or host


def _as_resolved(host: str) -> str:
    """`127.1`, `0x7f000001`, `2130706433` and `017700000001` are 127.0.0.1. Empty for what is no address."""
    numbers = [_number(part) for part in host.split(".")]
    if len(numbers) > _PARTS or any(number > 255 for number in numbers[:-1]) or min(numbers) < 0:
        return ""
    room = 256 ** (_PARTS + 1 - len(numbers))  # the last one takes what is left
    if numbers[-1] >= room:
        return ""
    value = sum(number << 8 * (_PARTS - 1 - at) for at, number in enumerate(numbers[:-1])) + numbers[-1]
    return str(IPv4Address(value))


def _number(part: str) -> int:
    """-1 for none."""
    found = _SPELLED_PART.fullmatch(part) if len(part) <= _LONGEST else None
    if not found:
        return -1
    return int(found[found.lastgroup or 0], {"hex": 16, "octal": 8}.get(found.lastgroup or "", 10))


def usual_resource(text: str) -> str:
    """Of a queue its URL, whichever of its URLs it is or its ARN; of a version or an alias what it is one of.

    AWS limits a function with all its versions and aliases together, and whoever suspends it means all of them. What
    is none of these stays as it is.
    """
    if queue := resource_of("queues", text):
        domain = "amazonaws.com.cn" if queue.region.startswith("cn-") else "amazonaws.com"
        return f"https://sqs.{queue.region}.{domain}/{queue.account}/{queue.name}" if queue.region else _local(text)
    found = next((one for rule in _QUALIFIED if (one := resource_of(rule, text))), None)
    return text.removesuffix(f":{found.qualifier}") if found and found.qualifier else text


def _local(queue: str) -> str:
    """A queue on one machine, which has no region."""
    return queue.replace("//127.0.0.1", "//localhost", 1)


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
