"""One spelling for each host, and for each queue and function (ADR 0107, ADR 0110)."""

import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final

from delayer.core.addresses.resources import resource_of

HOST: Final = "host:"  # before the name of a field: of the URL in it, only the host counts
_NUMBER: Final = re.compile(
    r"[0-9]+|0[xX][0-9A-Fa-f]*"
)  # a last label like this makes a resolver take it for an address
_PART: Final = re.compile(r"0[xX](?P<hex>[0-9A-Fa-f]+)|0(?P<octal>[0-7]+)|(?P<decimal>0|[1-9][0-9]*)")
_PARTS: Final = 4  # of an address
_LONGEST: Final = 20  # digits of one
_QUALIFIED: Final = ("functions", "stateMachines")  # what has versions and aliases


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
    found = _PART.fullmatch(part) if len(part) <= _LONGEST else None
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
