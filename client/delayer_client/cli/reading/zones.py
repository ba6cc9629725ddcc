"""Time zones: by their names in the IANA database, or by their city alone."""

import os
from collections.abc import Mapping
from datetime import UTC, timezone, tzinfo
from difflib import get_close_matches
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from delayer_client.cli.reading.durations import NotRead


def zone(name: str, *, by_city: bool = True) -> tzinfo:
    """`Europe/Lisbon`, `UTC`, or, within a time, the city alone: `Lisbon`. Raises NotRead."""
    if name.upper() in ("UTC", "Z", "GMT"):
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        pass
    found = _of_city(name)
    if len(found) == 1 and by_city:
        return ZoneInfo(found[0])
    if len(found) > 1:
        raise NotRead(f"{name!r} is the city of several time zones: {', '.join(found)}.")
    near = found or get_close_matches(name, available_timezones(), n=3)
    raise NotRead(
        f"{name!r} is no time zone. They are called as in the IANA database: "
        f"{', '.join(near) if near else 'Europe/Lisbon, UTC'}."
    )


def _of_city(name: str) -> list[str]:
    wanted = name.replace(" ", "_").lower()
    found = sorted(one for one in available_timezones() if "/" in one and one.rpartition("/")[2].lower() == wanted)
    places = [one for one in found if not one.startswith(("Etc/", "posix/", "right/", "US/", "Brazil/", "Mexico/"))]
    return places or found


def local_zone(environment: Mapping[str, str] = os.environ, localtime: Path = Path("/etc/localtime")) -> tzinfo:
    """That of this machine: `TZ`, or what /etc/localtime is a link to. UTC if neither says it."""
    named = environment.get("TZ", "").removeprefix(":")
    if not named and localtime.is_symlink():
        named = str(localtime.resolve()).partition("zoneinfo/")[2]
    try:
        return ZoneInfo(named) if named and named not in ("UTC", "Etc/UTC") else UTC
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def name_of(one: tzinfo) -> str:
    """As the IANA database calls it; of a fixed offset, the offset."""
    if isinstance(one, ZoneInfo):
        return one.key
    return "UTC" if one is UTC else str(one).removeprefix("UTC") if isinstance(one, timezone) else str(one)


def city_of(one: tzinfo) -> str:
    """In short: Lisbon."""
    return name_of(one).rpartition("/")[2].replace("_", " ")
