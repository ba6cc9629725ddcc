"""Which messages belong together in a fair queue: the message groups of SQS (ADR 0039)."""

import hashlib
import re
from typing import Final

import msgspec

from delayer.core.schedule.schedule import Schedule

_HOST: Final = re.compile(r"https?://(?:[^/?#]*@)?(\[[^\]/?#]*\]|[^/?#:]*)", re.IGNORECASE)
HOST: Final = "host:"  # before the name of a field: of the URL in it, only the site counts
AT_MOST: Final = 4  # groups of one owner, however many targets it has; see ADR 0039 for why so few


class _Target(msgspec.Struct):
    """The fields of an action that name its target; all others are skipped."""

    url: str = ""
    queueUrl: str = ""  # noqa: N815 - the API's own spelling


_TARGET: Final = msgspec.json.Decoder(_Target)


def message_group_of(schedule: Schedule) -> str:
    """One of the few groups of its owner, by its target; 32 characters. Without a URL it is always the same one."""
    site = _site_of(schedule.definition.action)
    number = _digest(site)[0] % AT_MOST if site else 0
    return _digest(f"{schedule.owner}\n{number}").hex()[:32]


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _site_of(action: str) -> str:
    """The last two labels of the host, or the whole URL of a queue: all queues of a region have the same host.

    Names below a domain cost nothing, so they make no difference. What cannot be read is empty.
    """
    try:
        target = _TARGET.decode(action)
        found = _HOST.match(target.url)
        host = found[1].lower().rstrip(".") if found else ""
        host = host if host.isascii() else host.encode("idna").decode()
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return ""
    if target.queueUrl or ":" in host or host[-1:].isdecimal():
        return target.queueUrl or host  # a queue, or an address
    return ".".join(host.split(".")[-2:])
