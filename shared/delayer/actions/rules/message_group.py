"""Which messages belong together in a fair queue: the message groups of SQS (ADR 0039)."""

import hashlib
import re
from typing import Final

import msgspec

from delayer.actions.rules.addresses import HOST
from delayer.schedule.schedule import Schedule

_HOST: Final = re.compile(r"https?://(?:[^/?#]*@)?(\[[^\]/?#]*\]|[^/?#:]*)", re.IGNORECASE)
AT_MOST: Final = 4  # groups of one owner, however many targets it has; see ADR 0039 for why so few


class _Target(msgspec.Struct):
    """The fields of an action that name its target; all others are skipped."""

    url: str = ""
    queueUrl: str = ""  # noqa: N815 - the API's own spelling


_FIELDS: Final = msgspec.json.Decoder(dict[str, object])
_TARGET: Final = msgspec.json.Decoder(_Target)


def message_group_of(schedule: Schedule) -> str:
    """One of the few groups of its owner, by its target; 32 characters."""
    number = schedule.traits.fair_group
    if number is None:  # of an older version
        number = group_number(_site_of(schedule.definition.action))
    return _digest(f"{schedule.owner}\n{number}").hex()[:32]


def target_of(action: str, fair_by: str) -> str:
    """Finds the name of the target in an action in JSON: the field `fair_by`, or of its URL only the site. Empty if
    none does.

    `fair_by` is as in ActionType.
    """
    try:
        value = _FIELDS.decode(action).get(fair_by.removeprefix(HOST), "")
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return ""
    return _site_of_url(str(value)) if fair_by.startswith(HOST) else str(value)


def group_number(site: str) -> int:
    """Which of the few groups of an owner a target is in; the first if there is none."""
    return _digest(site)[0] % AT_MOST if site else 0


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _site_of(action: str) -> str:
    """The target of a schedule of an older version."""
    try:
        target = _TARGET.decode(action)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return ""
    return target.queueUrl or _site_of_url(target.url)


def _site_of_url(url: str) -> str:
    """The last two labels of its host, or an address. Names below a domain cost nothing, so they make no difference."""
    found = _HOST.match(url)
    host = found[1].lower().rstrip(".") if found else ""
    try:
        host = host if host.isascii() else host.encode("idna").decode()
    except ValueError:
        return ""
    return host if ":" in host or host[-1:].isdecimal() else ".".join(host.split(".")[-2:])
