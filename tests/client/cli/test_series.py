"""Series from the command line."""

from datetime import timedelta
from typing import Any

from tests.client.cli.conftest import HOOK, Cli


def test_one_from_its_making_to_its_end(delayer: Cli) -> None:
    made = delayer("series", "create", "0 9 * * MON-FRI", "http", HOOK, "--name", "report", "--zone", "Europe/Lisbon")
    assert made.status == 0, made.err
    assert "tomorrow 09:00 Lisbon (in 24 h)" in made.out
    [found] = delayer("series", "get", "--name", "report", "--json").objects
    assert found["repeat"]["timeZone"] == "Europe/Lisbon"
    which = found["seriesId"]
    assert [one["seriesId"] for one in delayer("series", "list", "--json").objects] == [which]
    assert which in delayer("series", "list").out
    assert "every weekday at 09:00" in delayer("series", "get", which).out
    assert len(delayer("series", "next", which, "--count", "3", "--json").objects[0]["times"]) == 3
    [run] = delayer("series", "run-now", which, "--json").objects
    assert run["seriesId"] == which
    listed = [one["state"] for one in delayer("series", "occurrences", which, "--json").objects]
    assert listed == ["scheduled", "executed"]
    assert "executed" in delayer("series", "occurrences", "--name", "report").out
    assert delayer("series", "pause", which).status == 0
    assert "paused" in delayer("series", "get", which).out
    assert "active" in delayer("series", "resume", which).out
    changed = delayer("series", "change", which, "--rule", "0 8 * * *", "--time-zone", "UTC", "--payload", "[1]")
    assert "Takes effect" in changed.out, changed.err
    assert delayer("series", "cancel", "--name", "report").status == 0
    assert delayer("series", "get", which, "--json").objects[0]["state"] == "cancelled"


def test_how_often_instead_of_a_cron_expression(delayer: Cli) -> None:
    [made] = delayer("series", "create", "15m", "http", HOOK, "--overlap", "skip", "--json").objects
    [found] = delayer("series", "get", made["seriesId"], "--json").objects
    assert found["repeat"]["every"] == "PT15M"
    assert found["overlap"] == "skip"


def test_a_preview_stores_nothing(delayer: Cli) -> None:
    shown = delayer("series", "preview", "0 9 * * MON", "--zone", "Europe/Lisbon", "--count", "2").out
    assert [line.split()[:4] for line in shown.splitlines()[2:]] == [
        ["Mon", "2027-01-11", "09:00", "WET"],
        ["Mon", "2027-01-18", "09:00", "WET"],
    ]
    assert "There are none." in delayer("series", "list").err


def test_days_from_a_time_that_the_clocks_leave_out_have_that_time_afterwards(delayer: Cli) -> None:
    given = ("1d", "--zone", "America/New_York", "--from", "2027-03-14 02:30", "--count", "3")
    shown = delayer("series", "preview", *given)
    assert "There is no 2027-03-14 02:30 in America/New_York" in shown.err
    assert [line.split()[1:3] for line in shown.out.splitlines()[2:]] == [
        ["2027-03-14", "03:00"],
        ["2027-03-15", "02:30"],
        ["2027-03-16", "02:30"],
    ]


def test_a_backfill(delayer: Cli) -> None:
    delayer("series", "create", "0 * * * *", "http", HOOK, "--name", "hourly")
    delayer.fake.advance(timedelta(hours=4))
    done = delayer("series", "backfill", "--name", "hourly", "--from", "today 9:30", "--until", "today 12:00")
    assert done.status == 0, done.err
    assert "First" in done.out


def test_wrong_usage_is_answered_with_what_is_right(delayer: Cli) -> None:
    assert "in quotes" in delayer("series", "create", "0", "9", "*", "*", "MON-FRI", "http", HOOK).err
    assert "is no rule" in delayer("series", "create", "often", "http", HOOK).err
    assert "allow, skip or queue-one" in delayer("series", "create", "1h", "http", HOOK, "--overlap", "x").err
    assert "Give the id or the name;" in delayer("series", "next").err
    assert delayer("series", "get", "x").status == 3


def test_what_a_change_does_not_name_stays(delayer: Cli) -> None:
    zone = ("--time-zone", "Europe/Lisbon", "--on-missed", "once", "--until", "2027-03-01T00:00:00Z")
    flags = (*zone, "--retry-attempts", "5", "--retry-for", "1h", "--json")
    [made] = delayer("series", "create", "0 9 * * *", "http", HOOK, *flags).objects
    which = made["seriesId"]

    def series() -> dict[str, Any]:
        found: dict[str, Any] = delayer("series", "get", which, "--json").objects[0]
        return found

    before = series()["repeat"]
    changed = delayer("series", "change", which, "--rule", "0 8 * * MON-FRI", "--zone", "UTC", "--retry-attempts", "3")
    assert changed.status == 0, changed.err
    assert "0 8 * * MON-FRI" in changed.out
    assert series()["repeat"] == {**before, "cron": "0 8 * * MON-FRI"}
    assert series()["retry"]["maxAttempts"] == 3
    assert series()["retry"]["maxAgeSeconds"] == 3600
    assert delayer("series", "change", which, "--on-missed", "all", "--dst-gap", "skip").status == 0
    assert series()["repeat"]["onMissed"] == "all"
    assert series()["repeat"]["dst"]["gap"] == "skip"
    assert delayer("series", "change", which, "--until", "none").status == 0
    assert "until" not in series()["repeat"]


def test_one_is_found_by_its_name_wherever_an_id_is_taken(delayer: Cli) -> None:
    """Also by one that has the form of an id. It takes some seconds: the command line is called for each command."""
    for name in ("poll", "0" * 32):
        delayer("series", "create", "1h", "http", HOOK, "--name", name)
        for command in (("get",), ("next",), ("occurrences",), ("pause",), ("resume",), ("run-now",)):
            done = delayer("series", *command, name)
            assert done.status == 0, (command, done.err)
        changed = delayer("series", "change", name, "--rule", "2h")
        assert changed.status == 0, changed.err
        assert delayer("series", "change", name, "--payload", "[1]").status == 0
        assert delayer("series", "cancel", name).status == 0
    assert delayer("series", "get", "nobody").status == 3


def test_what_is_wrong_with_a_change_is_answered_however_it_is_named(delayer: Cli) -> None:
    made = delayer("series", "create", "1h", "http", HOOK, "--name", "report", "--json").objects[0]["seriesId"]
    for which in ((made,), ("report",), ("--name", "report")):
        for rule in (("--rule", "0 9 * * FRI-MON", "--time-zone", "UTC"), ("--action", '{"type": "http-request"}')):
            done = delayer("series", "change", *which, *rule)
            assert done.status == 2, done.err
            assert "There is no series" not in done.err
    for which in ((made[::-1],), ("nix",)):
        done = delayer("series", "change", *which, "--action", '{"type": "http-request"}')
        assert (done.status, done.err) == (3, f'There is no series with the id or the name "{which[0]}". (404)\n')
