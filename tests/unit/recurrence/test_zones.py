"""Zones come from the pinned tz database, and its version is told."""

import zoneinfo
from importlib.metadata import version
from pathlib import Path

import pytest

from delayer.recurrence.zones import instants_of, span_at, tz_version, wall_at, zone_names
from delayer.schedule.instants import HOUR, SECOND, parse_instant
from tests.cfn import ROOT
from tests.recurrence.random_rules import ZONES, changes


def test_the_version_is_that_of_the_pinned_package() -> None:
    """2026f of the database is 2026.6 of the package."""
    year, release = tz_version()[:4], ord(tz_version()[4]) - ord("a") + 1
    assert version("tzdata") == f"{year}.{release}"
    assert f"\ntzdata=={year}.{release} " in (ROOT / "shared/requirements.txt").read_text()


def test_the_database_of_the_machine_is_not_asked(tmp_path: Path) -> None:
    """A zone that is wrong there is right here."""
    (tmp_path / "Europe").mkdir()
    tokyo = Path(zone_file("Asia/Tokyo"))
    (tmp_path / "Europe/Madrid").write_bytes(tokyo.read_bytes())
    before = zoneinfo.TZPATH
    zoneinfo.reset_tzpath([tmp_path])
    try:
        noon = parse_instant("2027-01-01T12:00:00Z")
        assert wall_at("Europe/Madrid", noon) == noon + HOUR
    finally:
        zoneinfo.reset_tzpath(before)


def zone_file(name: str) -> str:
    tzdata = pytest.importorskip("tzdata")
    return str(Path(tzdata.__file__).parent / "zoneinfo" / name)


def test_zones_are_known_by_their_names() -> None:
    assert {"UTC", *ZONES} <= zone_names()


@pytest.mark.parametrize("zone", ZONES)
def test_a_span_ends_where_the_clocks_are_changed(zone: str) -> None:
    found = changes(zone)
    assert len(found) == len(set(found))
    for change in found:
        after, before = span_at(zone, change), span_at(zone, change - 1)
        assert after.begin == before.end == change
        assert (after.before, before.offset) == (before.offset, after.before)
        assert wall_at(zone, change) - wall_at(zone, change - SECOND) != SECOND


def test_a_wall_time_is_shown_once_twice_or_never() -> None:
    summer = parse_instant("2027-07-01T12:00:00Z")
    assert instants_of("Europe/Lisbon", summer) == (summer - HOUR,)
    assert instants_of("Europe/Lisbon", parse_instant("2027-03-28T01:30:00Z")) == ()
    twice = parse_instant("2027-10-31T01:30:00Z")
    assert instants_of("Europe/Lisbon", twice) == (twice - HOUR, twice)
    assert instants_of("Australia/Lord_Howe", parse_instant("2027-10-03T02:15:00Z")) == ()
    assert instants_of("Australia/Lord_Howe", parse_instant("2027-10-03T02:30:00Z")) == (
        parse_instant("2027-10-02T15:30:00Z"),
    )
