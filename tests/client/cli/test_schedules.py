"""Schedules from the command line: made, looked at, moved, cancelled, watched."""

import json
import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from delayer_client.cli.showing.words import relative
from delayer_client.states import STATES
from delayer_client.testing import Answer
from tests.client.cli.conftest import HOOK, Cli


def test_one_is_made_and_waited_for(delayer: Cli) -> None:
    done = delayer("schedule", "http", HOOK, "--in", "10m", "--payload", '{"order": 17}', "--wait")
    assert done.status == 0
    assert "today 09:10 UTC (in 10 min)" in done.out
    assert "executed" in done.out
    [attempt] = delayer.fake.handed_over
    assert json.loads(attempt.body) == {"order": 17}
    assert attempt.action["url"] == HOOK


def test_all_that_a_schedule_may_have(delayer: Cli) -> None:
    flags = (
        *("--at", "tomorrow 09:00 Europe/Lisbon", "--name", "trial", "--group", "g", "--tag", "a=b", "--tag", "c=d=e"),
        *("--header", "X-Team: blue", "--header", "X-Two=2", "--method", "put", "--timeout-seconds", "5"),
        *("--keep-answer", "--keep-header", "X-Id", "--window", "1h", "--precision", "precise"),
        *("--on-late", "drop:10m", "--retry-attempts", "3", "--retry-for", "1h", "--retry-first", "2s"),
    )
    found = delayer("get", delayer.scheduled(*flags), "--json").objects[0]
    assert found["action"] == {
        "type": "http-request",
        "url": HOOK,
        "headers": {"X-Team": "blue", "X-Two": "2"},
        "method": "PUT",
        "timeoutSeconds": 5,
        "keepAnswer": True,
        "keepHeaders": ["X-Id"],
    }
    assert found["tags"] == {"a": "b", "c": "d=e"}
    assert found["onLate"] == {"after": "PT10M", "do": "drop"}
    assert found["retry"]["maxAttempts"] == 3
    assert found["window"]["seconds"] == 3600
    assert (found["name"], found["group"]) == ("trial", "g")


def test_other_types_by_their_fields(delayer: Cli) -> None:
    queue = "https://sqs.eu-west-1.amazonaws.com/123456789012/delayer-target-jobs"
    made = delayer("schedule", "sqs", "--queue-url", queue, "--in", "1h", "--json")
    assert made.status == 0, made.err
    [found] = delayer("get", made.objects[0]["scheduleId"], "--json").objects
    assert found["action"] == {"type": "sqs-send", "queueUrl": queue}


def test_a_policy_decides(delayer: Cli) -> None:
    made = delayer("schedule", "http", HOOK, "--when", 'spread:{"seconds": 60}', "--json")
    assert made.objects[0]["state"] == "undecided"


@pytest.mark.parametrize(("given", "payload"), [("-", {"a": 1}), ("@payload.json", [1, 2]), ('"hello"', "hello")])
def test_where_a_payload_comes_from(
    delayer: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, payload: object
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "payload.json").write_text("[1, 2]")
    done = delayer("schedule", "http", HOOK, "--in", "1s", "--payload", given, "--wait", input='{"a": 1}')
    assert done.status == 0, done.err
    assert json.loads(delayer.fake.handed_over[0].body) == payload


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("http",), "http-request needs --url"),
        (("http", HOOK), "exactly one of --in 10m"),
        (("http", HOOK, "--in", "10m", "--at", "now"), "exactly one of --in 10m"),
        (("http", HOOK, "--in", "10"), "With a unit it is 10s or 10m."),
        (("http", HOOK, "--url", HOOK, "--in", "1m"), "--url is given twice"),
        (("http", HOOK, "--in", "1m", "--method", "FETCH"), "it is one of DELETE, GET"),
        (("http", HOOK, "--in", "1m", "--header", "no"), "write it --header 'Name: value'"),
        (("http", HOOK, "--in", "1m", "--timeout-seconds", "x"), "is no whole number"),
        (("http", HOOK, "--in", "1m", "--payload", "{"), "--payload is not JSON"),
        (("http", HOOK, "--in", "1m", "--payload", "@/not/there"), "/not/there cannot be read"),
        (("http", HOOK, "--in", "1m", "--payload", "NaN"), "--payload is not JSON"),
        (("http", HOOK, "--in", "1m", "--tag", "x"), "write it --tag key=value"),
        (("http", HOOK, "--in", "1m", "--on-late", "10m"), "write it drop:10m"),
        (("http", "ftp://x", "--in", "1m"), "Allowed: an absolute http or https URL"),
        (("ftp", HOOK), "This stack has no type of action 'ftp'"),
        (("s", HOOK), "'s' may be any of: sns-publish, sqs-send, step-start"),
        (("--in", "1m", "http", HOOK), "--in comes after the type of action"),
    ],
)
def test_wrong_usage_is_answered_with_what_is_right(delayer: Cli, args: tuple[str, ...], said: str) -> None:
    done = delayer("schedule", *args)
    assert done.status == 2
    assert said in " ".join(done.err.replace("│", " ").split())
    assert not done.out


def test_what_has_failed_is_no_success(delayer: Cli) -> None:
    delayer.fake.answer(Answer.fail_for_good("no"))
    done = delayer("schedule", "http", HOOK, "--in", "1s", "--wait")
    assert done.status == 1
    assert "It ended as failed" in done.err


def test_waiting_has_an_end(delayer: Cli) -> None:
    done = delayer("schedule", "http", HOOK, "--in", "1h", "--wait", "--timeout", "1m")
    assert done.status == 7
    assert "is still scheduled" in done.err


def test_a_list_for_readers_and_for_scripts(delayer: Cli) -> None:
    first = delayer.scheduled("--in", "1m", "--group", "orders")
    second = delayer.scheduled("--in", "2h", "--group", "orders", "--name", "later")
    shown = delayer("list", "--group", "orders")
    assert [line.rstrip() for line in shown.out.splitlines()] == [
        "DUE      STATE      NAME   ID",
        f"in 60 s  scheduled         {first}",
        f"in 2 h   scheduled  later  {second}",
    ]
    assert [one["scheduleId"] for one in delayer("list", "--json").objects] == [first, second]
    assert [one["scheduleId"] for one in delayer("list", "--json", "--limit", "1").objects] == [first]
    assert [one["scheduleId"] for one in delayer("list", "--json", "--since", "in 1h").objects] == [second]
    assert "--limit shows more" in delayer("list", "--limit", "1").err
    assert "There are none" in delayer("list", "--state", "failed").err


def test_a_wide_window_shows_more(delayer: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    delayer.fake.answer(Answer.fail_for_good("no such order"))
    delayer("schedule", "http", HOOK, "--in", "1s", "--name", "soon", "--wait")
    assert "no such order" not in delayer("list").out
    monkeypatch.setenv("COLUMNS", "160")
    header, row = delayer("list").out.splitlines()
    assert header.split() == ["DUE", "STATE", "LATE", "NAME", "WHAT", "DETAIL", "ID"]
    assert "http-request example.com" in row
    assert "no such order" in row


def test_one_with_its_path(delayer: Cli) -> None:
    made = delayer.scheduled("--in", "1s", "--name", "one")
    delayer("schedule", "http", HOOK, "--in", "2s", "--wait")
    shown = delayer("get", "--name", "one").out
    assert shown.splitlines()[0].split() == ["Schedule", made]
    assert "executed" in shown
    assert "EVENT" in shown


def test_it_is_moved(delayer: Cli) -> None:
    made = delayer.scheduled()
    done = delayer("move", made, "--to", "2027-01-05 18:00 Europe/Lisbon")
    assert done.status == 0
    assert "tomorrow 18:00 UTC" in done.out
    assert delayer("move", made, "--in", "1h").status == 1
    assert delayer("move", made).status == 2


def test_it_is_replaced(delayer: Cli) -> None:
    first = delayer.scheduled("--in", "1h", "--name", "trial")
    [second] = delayer("replace", "trial", "http", HOOK, "--in", "2h", "--json").objects
    assert second["replaces"] == first
    assert delayer("replace", "trial", "http", HOOK, "--in", "2h", "--only-new").status == 1


def test_it_is_found_by_its_name_wherever_an_id_is_taken(delayer: Cli) -> None:
    made = delayer.scheduled("--in", "1h", "--name", "invoice-20")
    assert delayer("get", "invoice-20", "--json").objects[0]["scheduleId"] == made
    [moved] = delayer("move", "invoice-20", "--in", "2h", "--json").objects
    assert moved["replaces"] == made
    assert delayer("stop", "invoice-20").status == 1, "it is not handed over"
    done = delayer("cancel", "invoice-20", "invoice-21")
    assert done.status == 3
    assert done.out == "Cancelled: invoice-20 will never be handed over.\n"
    assert 'Not cancelled: invoice-21. There is no schedule with the id or the name "invoice-21". (404)' in done.err
    assert delayer("get", "invoice-20", "--json").objects[0]["state"] == "cancelled"


@pytest.mark.parametrize("name", ["a" * 47, "0" * 32, "-not-a-flag"])
def test_a_name_that_looks_like_something_else_is_found_as_well(delayer: Cli, name: str) -> None:
    made = delayer.scheduled("--in", "1h", f"--name={name}")
    for flags in ((f"--name={name}",), ("--", name)):
        assert delayer("get", "--json", *flags).objects[0]["scheduleId"] == made


def test_an_id_counts_before_a_name_that_is_written_like_it(delayer: Cli) -> None:
    first = delayer.scheduled("--in", "1h")
    second = delayer.scheduled("--in", "2h", "--name", first)
    assert delayer("get", first, "--json").objects[0]["scheduleId"] == first
    assert delayer("get", "--name", first, "--json").objects[0]["scheduleId"] == second
    assert delayer("get", first, "--name", first).status == 2


def test_a_word_that_is_no_state_is_answered_with_those_that_are(delayer: Cli) -> None:
    for no_state in ("foo", "retrying"):
        done = delayer("list", "--state", no_state)
        assert done.status == 2
        assert all(word in done.err for word in STATES), done.err
    assert delayer("list", "--retried", "--state", "claimed").status == 0
    done = delayer("list", "--retried", "--state", "failed")
    assert (done.status, done.err) == (2, "--retried: schedules that are retried are claimed, and none is failed.\n")


def test_what_is_no_name_is_not_found(delayer: Cli) -> None:
    done = delayer("get", "no name")
    assert done.status == 3
    assert 'There is no schedule with the id or the name "no name".' in done.err
    done = delayer("get", "--name", "nix")
    assert (done.status, done.err) == (3, 'There is no schedule with the name "nix". (404)\n')


def test_what_is_wrong_with_a_move_is_answered_however_it_is_named(delayer: Cli) -> None:
    made = delayer.scheduled("--in", "1h", "--name", "trial")
    for which in ((made,), ("trial",), ("--name", "trial")):
        done = delayer("move", *which, "--in", "9999d")
        assert (done.status, done.err.partition(":")[0]) == (2, "delaySeconds"), done.err
    assert delayer("get", made, "--json").objects[0]["state"] == "scheduled"


def test_what_is_retried_is_claimed_and_has_not_fired(delayer: Cli) -> None:
    """Each attempt has its own lateness, and none of them is in a figure of what fired."""
    delayer.fake.answer(Answer.retry("HTTP 503"))
    made = delayer.scheduled("--in", "1s", "--name", "payment-17")
    delayer.fake.advance(timedelta(seconds=10))
    found = delayer("get", made, "--json").objects[0]
    assert (found["state"], found["latenessMs"]) == ("claimed", 0)
    shown = {line.split("  ")[0]: line for line in delayer("get", made).out.splitlines()}
    assert re.search(r"claimed \(attempt \d+\)$", shown["State"].rstrip())
    assert "the first attempt" in shown["Late"]
    assert f"({relative(datetime.fromisoformat(found['nextAttemptAt']), delayer.fake.now)})" in shown["Next"]
    attempts = [line.split() for line in delayer("get", made).out.splitlines() if line.startswith("attempt-failed")]
    assert [(row[3], row[4:]) for row in attempts] == [
        (str(number), ["0", "ms", "HTTP", "503"]) for number in range(1, len(attempts) + 1)
    ]
    assert len(attempts) > 2
    assert re.search(r"claimed +attempt \d+ ", delayer("list").out)
    assert "late p50" not in delayer("watch", "--once").out
    assert [one["scheduleId"] for one in delayer("list", "--retried", "--json").objects] == [made]
    delayer.scheduled("--in", "1h")
    assert len(delayer("list", "--retried", "--json").objects) == 1


def test_a_list_is_by_the_clock_of_the_zone_that_was_asked_for(delayer: Cli) -> None:
    delayer.scheduled("--in", "2h")
    assert "today 20:00 Tokyo" in delayer("list", "--zone", "Asia/Tokyo").out
    done = delayer("list", "--zone", "Lisbon")
    assert (done.status, done.out) == (2, "")
    assert done.err == ("'Lisbon' is no time zone. They are called as in the IANA database: Europe/Lisbon.\n")


def test_a_cancel_tells_the_truth(delayer: Cli) -> None:
    made = delayer.scheduled()
    done = delayer("cancel", made)
    assert (done.status, done.out) == (0, f"Cancelled: {made} will never be handed over.\n")
    late = delayer.scheduled("--in", "1s")
    delayer("schedule", "http", HOOK, "--in", "5s", "--wait")
    done = delayer("cancel", late)
    assert (done.status, done.out) == (1, "")
    assert f"Not cancelled: {late}" in done.err
    assert delayer("cancel", late, "--json").objects[0]["status"] == 409
    assert delayer("cancel", "nonsense").status == 3
    assert delayer("cancel").status == 2


def test_several_are_cancelled_and_one_no_is_a_no(delayer: Cli) -> None:
    gone = delayer.scheduled("--in", "1s")
    delayer("schedule", "http", HOOK, "--in", "5s", "--wait")
    live = delayer.scheduled()
    done = delayer("cancel", live, gone)
    assert done.status == 1
    assert f"Cancelled: {live}" in done.out


def test_a_group_is_cancelled_after_a_question_with_a_count(delayer: Cli) -> None:
    for _ in range(3):
        delayer.scheduled("--in", "1h", "--group", "orders")
    refused = delayer("cancel", "--group", "orders")
    assert refused.status == 2
    assert "Cancel 3 schedules of the group orders? Nobody can be asked here: say so with --yes." in refused.err
    declined = delayer.at_a_terminal()("cancel", "--group", "orders", input="n\n")
    assert declined.status == 1
    assert "Nothing was done." in declined.err
    done = delayer.at_a_terminal()("cancel", "--group", "orders", input="y\n")
    assert done.status == 0
    assert "3 of the group orders cancelled." in done.out
    assert "Nothing of the group orders waits." in delayer("cancel", "--group", "orders").err
    [job] = delayer("groups", "cancel", "orders", "--yes", "--json").objects
    assert job["state"] == "done"
    assert delayer("groups", "job", job["jobId"]).status == 0


def test_a_look_at_what_is_due_and_what_fired(delayer: Cli) -> None:
    delayer.scheduled("--in", "1h", "--name", "later")
    delayer("schedule", "http", HOOK, "--in", "1s", "--wait")
    done = delayer("watch", "--once")
    assert done.status == 0
    assert "Due next" in done.out
    assert "in 60 min" in done.out
    assert "Due in the last 5 minutes: 1 schedule, late p50" in done.out
    assert [one["state"] for one in delayer("watch", "--json").objects] == ["executed", "scheduled"]
    assert delayer("watch", "--every", "0.1s").status == 2


def test_what_others_wrote_cannot_colour_the_window(delayer: Cli) -> None:
    made = delayer.scheduled("--in", "1h", "--payload", '"\\u001b[31mred [bold]x[/bold]"')
    shown = delayer("get", made).out
    assert "\x1b" not in shown
    assert "[bold]x[/bold]" in shown


def test_json_has_no_sign_that_a_terminal_obeys(delayer: Cli) -> None:
    """Such as U+009B, which some terminals take as ESC [, or U+202E, which turns the order of what follows round."""
    payload = json.dumps("\x1b[31m \x7f \x9b31m \u202e \u2028 \U000e0001 ä 漢 😀", ensure_ascii=False)
    made = delayer.scheduled("--in", "1h", "--payload", payload)
    shown = delayer("get", made, "--json")
    [line] = shown.out.splitlines()
    assert line.isprintable()
    assert shown.objects[0]["payload"] == json.loads(payload)
    assert "ä 漢 😀" in line
