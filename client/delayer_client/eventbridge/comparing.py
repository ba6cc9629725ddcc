"""Whether what an earlier import has made is what this one would make.

If it is not, the commands of this import would switch off too early, or too late: the series may begin at another time.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec

from delayer_client.eventbridge.mapping.expressions import text_of
from delayer_client.eventbridge.mapping.outcome import Request

MASK: Final = "***"  # stands for what Delayer does not show of an action
_ALIKE: Final = ("payload", "retry")
AT_ONCE: Final = timedelta(minutes=1)  # after it was made; a cut-over is five minutes ahead at least
_EVER: Final = datetime.min.replace(tzinfo=UTC)


def differences(item: Request, found: Mapping[str, Any]) -> tuple[str, ...]:
    """The fields in which a schedule or a series, as the API shows it, is not what the request asks for."""
    return tuple(_differences(msgspec.json.decode(item.body), found, item.now))


def begin_of(found: Mapping[str, Any]) -> datetime:
    """From when a schedule or a series fires, as the API shows it."""
    text = found.get("pointInTime") or found.get("repeat", {}).get("from")
    return _instant(text) or _EVER


def _differences(wanted: Mapping[str, Any], found: Mapping[str, Any], now: datetime) -> Iterator[str]:
    if "repeat" in wanted:
        yield from _of_begin(wanted["repeat"], found, now)
        yield from _of_rule(wanted["repeat"], found.get("repeat", {}))
    elif _instant(wanted["pointInTime"]) != _instant(due := _due_in(found)):
        yield f"pointInTime is {due}, now it would be {wanted['pointInTime']}"
    if not _is_shown_as(wanted["action"], found.get("action")):
        yield "action"
    if wanted.get("window", {}).get("seconds") != found.get("window", {}).get("seconds"):
        yield "window"
    for name in _ALIKE:
        is_shown = name != "payload" or not found.get("payloadOmitted")
        if is_shown and not _is_same(wanted.get(name), found.get(name)):
            yield name


def _of_begin(wanted: Mapping[str, Any], found: Mapping[str, Any], now: datetime) -> Iterator[str]:
    """A schedule that has begun may have begun at any time. Without a `from`, Delayer shows when it was made, by its
    own clock.
    """
    begins = _instant(wanted.get("from"))
    shown = found.get("repeat", {}).get("from")
    began, made = _instant(shown), _instant(found.get("createdAt"))
    if began is not None and made is not None and began <= made + AT_ONCE:
        began = None
    if begins != began and max(begins or now, now) != max(began or now, now):
        yield f"repeat.from is {shown}, now it would be {text_of(begins or now)}"


def _of_rule(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[str]:
    """Delayer shows a rule with all that it was sent without, and a `rate(…)` as `every`."""
    if wanted["cron"] != (found.get("cron") or found.get("every")):
        yield "repeat.cron"
    if wanted["timeZone"] != found.get("timeZone"):
        yield "repeat.timeZone"
    if _instant(wanted.get("until")) != _instant(found.get("until")):
        yield "repeat.until"
    if "anchor" in wanted and _instant(wanted["anchor"]) != _instant(found.get("anchor")):
        yield "repeat.anchor"


def _due_in(found: Mapping[str, Any]) -> Any:
    """The time that was asked for, where the window opens, and not the one in it."""
    return found.get("window", {}).get("from") or found.get("pointInTime")


def _has_parts(text: str, parts: Sequence[str]) -> bool:
    """Whether it is these parts, one after the other, with anything between them."""
    first, *others, last = parts
    if not text.startswith(first):
        return False
    at = len(first)
    for part in others:
        at = text.find(part, at) + len(part)
        if at < len(part):
            return False
    return at + len(last) <= len(text) and text.endswith(last)


def _is_shown_as(wanted: Any, shown: Any) -> bool:
    """Whether an action may be shown like this. What is masked may be anything."""
    if isinstance(shown, str) and MASK in shown:
        return shown == MASK or (isinstance(wanted, str) and _has_parts(wanted, shown.split(MASK)))
    if isinstance(wanted, dict) and isinstance(shown, dict):
        return wanted.keys() == shown.keys() and all(_is_shown_as(one, shown[name]) for name, one in wanted.items())
    return _is_same(wanted, shown)


def _is_same(one: Any, other: Any) -> bool:
    """As JSON: to Python, 1 and true are the same."""
    return msgspec.json.encode(one, order="sorted") == msgspec.json.encode(other, order="sorted")


def _instant(text: Any) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return found if found.tzinfo else None
