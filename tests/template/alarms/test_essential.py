"""The few alarms that a stack has by default ring for every promise, and none rings in its first hours (ADR 0157)."""

from typing import Any, Final

from tests.cfn import entry_of, expanded, resources
from tests.running.of_each import of_each
from tests.template.alarms.breaks import BREAKS, NOT_ESSENTIAL, WELL, well_until
from tests.template.alarms.cloudwatch import ALARM, NO_DATA, OK, Metrics, calculated, names_in, notified, states

ALARMS: Final = resources("AWS::CloudWatch::Alarm")
CONDITIONS: Final = {name: expanded()["Resources"][name]["Condition"] for name in ALARMS}
ESSENTIAL: Final = sorted(name for name in ALARMS if CONDITIONS[name] in {"HasAlarms", "HasCanaryAlarms"})
BROKEN: Final = 120  # the minute since when something is broken
BORN: Final = 3  # minutes after the first tick an alarm may be created at any time of the deployment
HOURS: Final = 100


def rings(broken: Any) -> set[str]:
    """The essential alarms that tell somebody of it."""
    metrics = well_until(broken, BROKEN)
    return {
        name for name in ESSENTIAL if notified(ALARMS[name], states(ALARMS[name], metrics, BROKEN - 40, BROKEN + 60))
    }


@of_each(sorted(BREAKS))
def test_each_entry_of_the_runbook_rings(entry: str) -> None:
    """Within the hour, by an alarm of the default. It takes seconds: each alarm is evaluated for each minute."""
    found = rings(BREAKS[entry])
    assert found
    own = {name for name in ESSENTIAL if entry_of(name) == entry}
    assert not own or own & found, "its own"


def test_every_entry_is_broken_once_or_has_a_reason() -> None:
    entries = {entry_of(name) for name in ALARMS}
    assert entries == BREAKS.keys() | NOT_ESSENTIAL.keys()
    assert not BREAKS.keys() & NOT_ESSENTIAL.keys()
    assert not {entry_of(name) for name in ESSENTIAL} & NOT_ESSENTIAL.keys()
    assert all(len(reason) > 20 for reason in NOT_ESSENTIAL.values())


@of_each(sorted(ALARMS))
def test_nothing_rings_in_the_first_hours_of_a_stack_that_is_well(alarm: str) -> None:
    """Whenever the alarm was created: the metrics of queues come after a quarter of an hour, the far canary after 17.

    It takes seconds: each of ninety alarms is evaluated for each minute.
    """
    for born in (-BORN, 0, BORN):
        assert notified(ALARMS[alarm], states(ALARMS[alarm], Metrics(WELL), born, HOURS)) == []


def test_a_well_stack_writes_what_the_alarms_on_silence_wait_for() -> None:
    """Otherwise they would be silent in any case."""
    waiting = {name for name in ALARMS if ALARMS[name]["TreatMissingData"] == "missing"}
    unused = {"Subscriber", "Policy"}
    for name in waiting:
        if not name.startswith(tuple(unused)) and "Executor" not in name:
            assert names_in(ALARMS[name]) <= WELL.keys(), name
            assert states(ALARMS[name], Metrics(WELL), 0, HOURS)[-1] == OK


def test_they_are_few_and_cost_little() -> None:
    """An alarm is billed for each metric in it. Beside those of the executors: two for each."""
    shared = [name for name in ESSENTIAL if not name.startswith("Executor")]
    of_the_relaxed_lane = ["RelaxedIteratorAgeAlarm"]  # which a stack has by its name alone (ADR 0172)
    assert sum(len(names_in(ALARMS[name])) for name in {*shared} - {*of_the_relaxed_lane}) == 13
    assert [len(names_in(ALARMS[name])) for name in of_the_relaxed_lane] == [1]
    assert {entry_of(name) for name in set(ESSENTIAL) - set(shared)} == {"ExecutorQueueOldAlarm", "ExecutorErrorsAlarm"}
    own = {one.metric for name in ESSENTIAL for one in names_in(ALARMS[name]) if one.about == "AWS::StackName"}
    assert own == {"Attention", "CanaryFarLateness", "CanaryNearLateness"}


def test_off_leaves_none_and_all_leaves_none_out() -> None:
    conditions = expanded()["Conditions"]
    assert conditions["HasAlarms"] == {"Fn::Not": [{"Fn::Equals": [{"Ref": "Alarms"}, "off"]}]}
    assert conditions["HasAllAlarms"] == {"Fn::Equals": [{"Ref": "Alarms"}, "all"]}
    assert conditions["HasCanaryAlarms"] == {"Fn::And": [{"Condition": "HasCanary"}, {"Condition": "HasAlarms"}]}
    of_events = {"Fn::And": [{"Condition": "HasEvents"}, {"Condition": "HasAllAlarms"}]}
    assert conditions["HasAllAlarmsOfEvents"] == of_events
    assert set(CONDITIONS.values()) == {"HasAlarms", "HasAllAlarms", "HasCanaryAlarms", "HasAllAlarmsOfEvents"}


# ------------------------------------------------------------ the evaluation itself, by examples of CloudWatch's pages


def an_alarm(treat: str, **more: Any) -> dict[str, Any]:
    return {
        "MetricName": "m",
        "Dimensions": [{"Name": "service", "Value": {"Ref": "AWS::StackName"}}],
        "Statistic": "Maximum",
        "Period": 60,
        "EvaluationPeriods": 3,
        "Threshold": 1,
        "ComparisonOperator": "GreaterThanOrEqualToThreshold",
        "TreatMissingData": treat,
        "AlarmActions": ["topic"],
        **more,
    }


def last(alarm: dict[str, Any], *values: float | None) -> str:
    """The state after minutes with these values."""
    [name] = names_in(alarm)
    written = {minute: value for minute, value in enumerate(values) if value is not None}
    given = Metrics({name: lambda minute: [written[minute]] if minute in written else []})
    return states(alarm, given, 0, len(values) + 1)[-1]


def test_missing_data_are_taken_as_the_alarm_says() -> None:
    """The rows of the table *How CloudWatch treats missing data* for three of three."""
    nothing = [None] * 5
    assert last(an_alarm("missing"), *nothing) == NO_DATA
    assert last(an_alarm("notBreaching"), *nothing) == OK
    assert last(an_alarm("breaching"), *nothing) == ALARM
    with_gaps = [1, 1, None, 1, None]  # the newest last
    assert last(an_alarm("missing"), *with_gaps) == ALARM, "older data take the place of those that are missing"
    assert last(an_alarm("notBreaching"), *with_gaps) == OK
    assert last(an_alarm("breaching"), *with_gaps) == ALARM
    assert last(an_alarm("missing"), 1, 1, 1, 0, None) == OK


def test_a_new_alarm_without_data_has_not_changed() -> None:
    alarm = an_alarm("missing", InsufficientDataActions=["topic"])
    assert notified(alarm, states(alarm, Metrics({}), 0, 100)) == []
    assert notified(alarm, [NO_DATA, OK, NO_DATA]) == [NO_DATA]
    assert notified(alarm, [NO_DATA, ALARM, OK, ALARM]) == [ALARM, ALARM]


def test_what_is_calculated() -> None:
    assert (
        calculated("IF(received > 0, (received - FILL(deleted, 0)) / received, 0)", {"received": 4, "deleted": None})
        == 1
    )
    assert calculated("full + empty", {"full": None, "empty": 3}) is None
    assert calculated("IF(fired >= 20, p99, p50 / 10)", {"fired": 3, "p99": 1.0, "p50": 50}) == 5
