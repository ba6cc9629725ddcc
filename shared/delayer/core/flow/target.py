"""How people write a target: a host, or a type of action and what names its target (ADR 0110)."""

import re
from collections.abc import Mapping
from typing import Final

from delayer.core.addresses.spelling import HOST, usual_resource
from delayer.core.flow.party import EVERY, LONGEST_SHOWN, host_in, target_named

OF_A_HOST: Final = "http-request"  # what is meant by a host alone

_HOST: Final = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_-]+(\.[a-z0-9_-]+)*)(:[0-9]{1,5})?")
_USUAL_PORTS: Final = re.compile(r":0*(80|443)\Z")
_SITE: Final = re.compile(r"[a-z]+://[^/?#@]*/?", re.IGNORECASE)  # a URL that has nothing but a host
_WRITTEN: Final = re.compile(r"(\[[^\]]*\]|[^/?#@:\s]+)(:[0-9]{1,5})?")


class NoTarget(ValueError):
    """The text names no target. The message says what does."""


def target_written(text: str, fair_by: Mapping[str, str]) -> str:
    """As rows have it; EVERY for an empty text. `fair_by` of each type as in ActionType. Raises NoTarget."""
    kind, _, resource = text.strip().partition(" ")
    if not kind:
        return EVERY
    if not resource:
        return _alone(kind, fair_by)
    if kind not in fair_by:
        raise NoTarget(f"there is no action type {kind!r}; the types are {_listed(fair_by)}")
    if not fair_by[kind]:
        raise NoTarget(f"all schedules of the type {kind} have one target: give {kind!r} alone")
    named = (_host if fair_by[kind].startswith(HOST) else _resource)(resource.strip())
    return target_named(kind, named[:LONGEST_SHOWN])


def _alone(word: str, fair_by: Mapping[str, str]) -> str:
    """A type whose schedules have one target, or a host; `:80` and `:443` behind a host say nothing."""
    if word not in fair_by:
        return target_named(OF_A_HOST, _host(word if "://" in word else _USUAL_PORTS.sub("", word)))
    if field := fair_by[word].removeprefix(HOST):
        raise NoTarget(f"{word} has many targets: give the one that is meant, as {word + ' ' + field.upper()!r}")
    return word


def _host(text: str) -> str:
    """Of a URL, or as it is. Raises NoTarget."""
    is_url = "://" in text
    found = host_in(text if is_url else f"https://{text}")
    if not _HOST.fullmatch(found) or not (is_url or _WRITTEN.fullmatch(text)):
        raise NoTarget(f"{text!r} is no host; give one like api.example.com or api.example.com:8443")
    if is_url and not _SITE.fullmatch(text):
        raise NoTarget(f"a target is a host with all its paths: to say so, give {found} instead of {text!r}")
    return found


def _resource(text: str) -> str:
    """A queue, a topic, a function. Raises NoTarget for a part of one."""
    found = usual_resource(text)
    if text.startswith(f"{found}:"):
        raise NoTarget(f"a target is a function with all its versions and aliases: give {found} instead of {text!r}")
    return found


def _listed(fair_by: Mapping[str, str]) -> str:
    return ", ".join(sorted(fair_by))
