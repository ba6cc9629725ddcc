"""A schedule, as the lists show it."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urlsplit

from delayer_client.api.models import ListedTarget
from delayer_client.calls.decoding import shown
from delayer_client.console.place import PREFIX

# What names the target of each type, the first that is there.
TARGETS: Final = ("url", "queueUrl", "functionArn", "topicArn", "stateMachineArn", "eventBusArn", "channel", "host")


def action_of(one: Any) -> Mapping[str, Any]:
    """Its action, as far as the API has said; empty if it has not."""
    return getattr(one, "action", None) or {}


def kind(one: Any) -> str:
    """The type of its action."""
    listed = target_of(one)
    return str(action_of(one).get("type") or (listed.type if listed else ""))


def target(one: Any) -> str:
    """The host of a URL, or the last part of another name."""
    action = action_of(one)
    found = next((str(action[name]) for name in TARGETS if action.get(name)), "")
    if not found and (listed := target_of(one)):
        found = listed.name or ""
    if kind(one) == "http-request":
        return _host(found)
    return found.rpartition("/")[2].rpartition(":")[2]


def target_of(one: Any) -> ListedTarget | None:
    """Its target in a list: a type and the name of the target, but not the whole action. A series has none."""
    return getattr(one, "target", None)


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc.rpartition("@")[2] or url
    except ValueError:
        return url


def short(schedule_id: str) -> str:
    """Enough to tell it from its neighbours: ids begin with the time."""
    return f"{schedule_id[:6]}…{schedule_id[-6:]}" if len(schedule_id) > 14 else schedule_id


def link(schedule_id: str) -> str:
    """Its page."""
    return f"{PREFIX}/schedules/{quote(schedule_id, safe='')}"


def series_link(series_id: str) -> str:
    """Its page."""
    return f"{PREFIX}/series/{quote(series_id, safe='')}"


def pretty(value: Any) -> str:
    """JSON for people. Escaped by the template, as every text."""
    return shown(value, indent=2)


def labels(one: Any) -> list[tuple[str, str]]:
    """Group and tags: what it says, and what a search for it is."""
    group = [(str(one.group), f"group:{one.group}")] if getattr(one, "group", None) else []
    tags = getattr(one, "tags", None) or {}
    return group + [(f"{name}: {text}", f"tag:{name}={text}") for name, text in tags.items()]
