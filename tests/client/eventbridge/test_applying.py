"""Moving over, again and again, to a Delayer in memory that looks at each body as the real one does."""

import json
import re
import shlex
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec
import pytest
from msgspec.structs import replace

from delayer.accept.rules.admission import admit_named
from delayer.actions.rules.foreign import built_in
from delayer.http.problem import Invalid
from delayer.recurrence.rule import document_of
from delayer.series.rules.admission import admit_named_series, admit_preview
from delayer_client.errors import WrongArgument
from delayer_client.eventbridge import (
    COLUMNS,
    Answer,
    Gap,
    Options,
    Outcome,
    Report,
    State,
    Translated,
    Unanswered,
    apply,
    translate,
)
from delayer_client.eventbridge.reading.sources import Found, Rule, Schedule
from tests.client.eventbridge.samples import BUS, NOW, PLACE, TOPIC, a_rule, a_schedule

MILLIS: Final = int(NOW.timestamp() * 1000)
CUTOVER: Final = NOW + timedelta(days=1)


class InMemory:
    """What has a name, by its kind and name. `silent` does not answer."""

    def __init__(self, *, silent: bool = False) -> None:
        self.live: dict[tuple[str, str], dict[str, Any]] = {}
        self.silent = silent

    def put_schedule(self, name: str, body: bytes) -> Answer:
        return self._put("schedule", name, body, admit_named, {"scheduleId": f"id-{name}"})

    def put_series(self, name: str, body: bytes) -> Answer:
        found = {"seriesId": f"id-{name}", "next": "2026-11-24T09:00:00.000Z"}
        return self._put("series", name, body, admit_named_series, found)

    def get_schedule(self, name: str) -> Answer:
        return self._get("schedule", name)

    def get_series(self, name: str) -> Answer:
        return self._get("series", name)

    def preview_series(self, body: bytes) -> Answer:
        self._speak()
        try:
            admit_preview(body, MILLIS)
        except Invalid as error:
            return problem(error)
        return Answer(200, {"times": ["2026-11-24T09:00:00.000Z"]})

    def _put(self, kind: str, name: str, body: bytes, admit: Callable[..., Any], answer: Mapping[str, Any]) -> Answer:
        self._speak()
        if (kind, name) in self.live:
            return Answer(412, {"type": "urn:delayer:problem:name-taken", "title": "The name is taken"})
        try:
            request = admit(body, name, MILLIS, built_in())
        except Invalid as error:
            return problem(error)
        said: dict[str, Any] = {"createdAt": "2026-11-23T13:00:00.000Z"}
        said |= {"repeat": document_of(request.rule)} if kind == "series" else {}
        self.live[(kind, name)] = {**json.loads(body), **said, **answer}
        return Answer(201, self.live[(kind, name)])

    def _get(self, kind: str, name: str) -> Answer:
        self._speak()
        found = self.live.get((kind, name))
        return Answer(404) if found is None else Answer(200, found)

    def _speak(self) -> None:
        if self.silent:
            raise Unanswered("no answer within 30 seconds")


def problem(error: Invalid) -> Answer:
    errors = [{"field": one.field, "problem": one.problem} for one in error.errors]
    return Answer(422, {"detail": "One or more fields are wrong.", "errors": errors})


def items_of(*found: Schedule | Rule, cutover: datetime | None = None, now: datetime = NOW) -> tuple[Translated, ...]:
    schedules = tuple(one for one in found if isinstance(one, Schedule))
    rules = tuple(one for one in found if isinstance(one, Rule))
    return translate(Found(schedules=schedules, rules=rules), Options(now=now, cutover=cutover))


ALL: Final = (
    a_schedule(),
    a_schedule("at(2027-01-01T09:00:00)", Name="once"),
    a_schedule("at(2020-01-01T00:00:00)"),
    a_rule(),
)
EMPTY: Final = a_schedule("cron(0 9 30 2 ? *)", Name="never")  # no such day


def states(outcomes: tuple[Outcome, ...]) -> list[str]:
    return [one.state.value for one in outcomes]


def test_what_can_be_moved_is_moved_once() -> None:
    there = InMemory()
    steps: list[tuple[int, int, str]] = []
    first = apply(items_of(*ALL), there, progress=lambda done, of, last: steps.append((done, of, last.state)))
    assert states(first) == ["moved", "moved", "left", "moved"]
    assert steps == [(1, 4, "moved"), (2, 4, "moved"), (3, 4, "left"), (4, 4, "moved")]
    assert there.live.keys() == {("series", "nightly"), ("schedule", "once"), ("series", "rule:nightly:one")}
    assert [one.id for one in first] == ["id-nightly", "id-once", "", "id-rule:nightly:one"]
    assert states(apply(items_of(*ALL), there)) == ["there", "there", "left", "there"]


def test_a_name_that_somebody_else_has() -> None:
    there = InMemory()
    there.live[("series", "nightly")] = {"tags": {"team": "billing"}}
    [outcome] = apply(items_of(a_schedule()), there)
    assert outcome.state is State.REFUSED
    assert "another live series is called nightly" in outcome.reason


def test_what_delayer_refuses_is_in_its_words() -> None:
    outcomes = apply(items_of(a_schedule(), EMPTY), InMemory())
    assert states(outcomes) == ["moved", "refused"]
    assert re.match(r"422: One or more fields are wrong\.; repeat\.cron: empty", outcomes[1].reason)


def test_a_dry_run_moves_nothing_and_looks_at_the_rules() -> None:
    there = InMemory()
    outcomes = apply(items_of(*ALL, EMPTY), there, dry_run=True)
    assert there.live == {}
    assert states(outcomes) == ["ready", "ready", "left", "refused", "ready"]
    assert outcomes[0].next == ("2026-11-24T09:00:00.000Z",)
    assert states(apply(items_of(*ALL), None, dry_run=True)) == ["ready", "ready", "left", "ready"]


def test_without_an_answer_nobody_knows() -> None:
    outcomes = apply(items_of(*ALL), InMemory(silent=True))
    assert states(outcomes) == ["unknown", "unknown", "left", "unknown"]
    assert outcomes[0].reason == "no answer within 30 seconds"


def test_commands_switch_off_what_is_in_delayer_and_nothing_else() -> None:
    outcomes = apply(items_of(*ALL), InMemory())
    report = Report(outcomes=outcomes)
    whole = "del(.Arn, .CreationDate, .LastModificationDate)"
    assert report.commands() == tuple(
        [
            f'aws scheduler update-schedule --region=eu-west-1 --cli-input-json "$(aws scheduler get-schedule '
            f"--region=eu-west-1 --group-name=default --name={name} --output json "
            f'| jq \'{whole} | .State = "DISABLED"\')"'
            for name in ("nightly", "once")
        ]
        + ["aws events disable-rule --region=eu-west-1 --event-bus-name=default --name=nightly"]
    )
    assert Report(outcomes=apply(items_of(*ALL), None, dry_run=True)).commands() == ()
    assert Report(outcomes=apply(items_of(*ALL), None, dry_run=True)).steps() == ()


def test_of_a_rule_that_stays_only_the_moved_targets_are_taken() -> None:
    rule = a_rule()
    [one] = rule.targets or ()
    stays = replace(one, id="stays", arn=f"arn:aws:ecs:{PLACE}:cluster/tasks")
    rule = replace(rule, name="night ly", targets=(one, stays, replace(one, id="other", arn=TOPIC)))
    [command] = Report(outcomes=apply(items_of(rule), InMemory())).commands()
    assert shlex.split(command)[2:] == [
        *("remove-targets", "--region=eu-west-1", "--event-bus-name=default"),
        *("--rule=night ly", '--ids=["one", "other"]'),
    ]


def test_a_name_may_begin_with_a_hyphen() -> None:
    rule = a_rule()
    [one] = rule.targets or ()
    rule = replace(rule, name="-r", targets=(replace(one, id="-i"), replace(one, id="stays", arn=BUS)))
    found = (a_schedule(Name="-n", GroupName="-g"), rule)
    schedule, targets = Report(outcomes=apply(items_of(*found), InMemory())).commands()
    assert "get-schedule --region=eu-west-1 --group-name=-g --name=-n --output json" in schedule
    assert shlex.split(targets)[4:] == ["--event-bus-name=default", "--rule=-r", '--ids=["-i"]']


@pytest.mark.parametrize("name", ["a\x1b]0;b\x07", "a\nb", "a\u202eb", "\ud800"], ids=ascii)
def test_a_name_with_control_characters_is_left(name: str) -> None:
    rule = a_rule()
    [one] = rule.targets or ()
    arn = f"arn:aws:scheduler:{name}:1:a"
    schedules = [a_schedule(Name=name), a_schedule(GroupName=name), a_schedule(Arn=arn)]
    targets = (replace(one, id=name),)
    rules = [replace(rule, name=name), replace(rule, event_bus_name=name), replace(rule, targets=targets)]
    outcomes = apply(items_of(*schedules, *rules), InMemory())
    assert states(outcomes) == ["left"] * 6
    assert all("control characters" in one.reason and one.reason.isprintable() for one in outcomes)
    assert Report(outcomes=outcomes).commands() == ()


def test_at_a_cutover_what_recurs_ends_one_second_before_it() -> None:
    report = Report(outcomes=apply(items_of(*ALL, cutover=CUTOVER), InMemory()), cutover=CUTOVER)
    recurring, once, rule = report.commands()
    assert '.EndDate = "2026-11-24T12:59:59Z"' in recurring
    assert '.State = "DISABLED"' in once
    assert rule.startswith("aws events disable-rule")
    assert "Rules have no end" in report.steps()[3]
    assert report.document()["cutover"] == "2026-11-24T13:00:00Z"


def test_what_begins_after_the_cutover_is_disabled_since_no_end_is_before_a_start() -> None:
    later = a_schedule(StartDate="2027-01-01T00:00:00Z")
    report = Report(outcomes=apply(items_of(later, cutover=CUTOVER), InMemory()), cutover=CUTOVER)
    [command] = report.commands()
    assert '.State = "DISABLED"' in command


@pytest.mark.parametrize("ahead", [timedelta(minutes=4), timedelta(hours=1, seconds=1), timedelta(hours=-1)])
def test_a_cutover_is_a_whole_minute_to_come(ahead: timedelta) -> None:
    with pytest.raises(WrongArgument, match="whole minute"):
        items_of(a_schedule(), cutover=NOW + ahead)


def test_the_steps_say_in_which_order() -> None:
    report = Report(outcomes=apply(items_of(*ALL), InMemory()))
    assert "both fire. The first of them is due at 2026-11-24T09:00:00.000Z" in report.steps()[0]
    assert "between two of its times" in report.steps()[2]
    assert len(report.steps()) == 4


def test_the_report_as_rows_and_as_data() -> None:
    gap = Gap(what="rules default", why="events:ListRules is not allowed", remedy="Allow it.")
    report = Report(outcomes=apply(items_of(*ALL), InMemory()), gaps=(gap,))
    assert all(len(row) == len(COLUMNS) for row in report.rows())
    assert [row[:4] for row in report.rows()] == [
        ("default/nightly", "cron(0 9 ? * MON-FRI *)", "moved", "series nightly"),
        ("default/once", "at(2027-01-01T09:00:00)", "moved", "schedule once"),
        ("default/nightly", "at(2020-01-01T00:00:00)", "left", ""),
        ("rule default/nightly#one", "cron(0 20 * * ? *)", "moved", "series rule:nightly:one"),
    ]
    assert report.rows()[2][4].startswith("ScheduleExpression: it was due at")
    document = msgspec.json.decode(msgspec.json.encode(report.document()))
    assert document["counts"] == {"left": 1, "moved": 3}
    assert document["items"][0]["request"]["payload"] == {"order": 17}
    assert document["items"][2]["field"] == "ScheduleExpression"
    assert document["notRead"] == [{"what": gap.what, "why": gap.why, "remedy": gap.remedy}]
    assert document["commands"] == [*report.commands()]


@pytest.mark.parametrize(
    ("found", "gaps", "clean"),
    [((a_schedule(),), (), True), (ALL, (), False), ((a_schedule(),), (Gap(what="a", why="b", remedy="c"),), False)],
    ids=["all moved", "one left", "a gap"],
)
def test_clean_is_what_leaves_nothing_behind(found: tuple[Any, ...], gaps: tuple[Gap, ...], clean: bool) -> None:
    assert Report(outcomes=apply(items_of(*found), InMemory()), gaps=gaps).is_clean == clean


def test_the_samples_are_of_the_time() -> None:
    assert datetime.fromtimestamp(MILLIS / 1000, UTC) == NOW
