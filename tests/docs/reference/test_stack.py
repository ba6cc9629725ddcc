"""Parameters, alarms and metrics: each of the template and of the code has a section that says something."""

import re
from functools import cache
from typing import Any, get_args

import pytest

from delayer.engines.ports import Metric
from docs.hooks.reference import pages
from docs.hooks.reference.stack import alarms, metrics, parameters
from tests.cfn import ROOT, entry_of, resources, written
from tests.docs.test_runbook import entries
from tests.running.of_each import of_each
from tests.template.test_lanes import OF_RELAXED, OF_SUBSCRIBERS, OF_TIMING


@cache
def sections(name: str) -> dict[str, str]:
    """The text below each heading of the third level, as readers get it."""
    path = f"reference/{name}.md"
    parts = re.split(r"^### `(\w+)`$", pages.filled((ROOT / "docs" / path).read_text(), path), flags=re.MULTILINE)
    return dict(zip(parts[1::2], (re.split(r"^## ", text, flags=re.MULTILINE)[0] for text in parts[2::2]), strict=True))


PARAMETERS: dict[str, dict[str, Any]] = written()["Parameters"]


def test_every_parameter_is_described_in_its_group() -> None:
    assert sorted(sections("parameters")) == sorted(PARAMETERS)
    filled = pages.filled(parameters.PAGE.read_text(), "reference/parameters.md")
    assert re.findall(r"^## (.+)$", filled, re.MULTILINE) == list(parameters.groups())


def test_a_group_that_the_page_does_not_know_comes_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """A team adds a parameter of its own without a change of the page."""
    assert parameters.others() == ""
    known = parameters.groups()
    monkeypatch.setattr(parameters, "groups", lambda: {**known, "Slack": ["AlarmEmail"]})
    assert parameters.others().startswith("## Slack\n\n### `AlarmEmail`\n")


@of_each(PARAMETERS)
def test_a_parameter_has_its_text_its_default_and_what_is_allowed(name: str) -> None:
    given, text = PARAMETERS[name], sections("parameters")[name]
    assert len(given["Description"]) <= 4_000, "CloudFormation takes no longer one"
    default = f"`{given['Default']}`" if given["Default"] != "" else "empty"
    assert f"\n- **Default**: {default}\n" in text
    allowed = text.split("- **Allowed**: ")[1].split("\n")[0]
    for value in given.get("AllowedValues", [given[key] for key in ("MinValue", "MaxValue") if key in given]):
        assert (f"{value:,}" if isinstance(value, int) else value) in allowed
    assert given.get("AllowedPattern", "") in allowed


ALARMS = sorted({entry_of(alarm) for alarm in resources(alarms.KIND)})


def test_every_alarm_is_described() -> None:
    assert sorted(sections("alarms")) == ALARMS
    page = (ROOT / "docs/reference/alarms.md").read_text()
    filled = pages.filled(page, "reference/alarms.md")
    assert [name for name in resources(alarms.KIND) if f"`{name}`" not in filled] == []


def test_an_alarm_says_which_list_has_to_name_something() -> None:
    """Whoever looks for an alarm that a stack does not have finds why (ADR 0172). Three expansions take a second."""
    for parameter, own in (("Lanes", OF_RELAXED), ("Policies", OF_TIMING), ("Subscribers", OF_SUBSCRIBERS)):
        condition = f"\n- Only if [`{parameter}`](parameters.md#{parameter.lower()}) is not `none`.\n"
        wanted = {entry_of(alarm) for alarm in resources(alarms.KIND) if own.search(alarm)}
        assert {name for name in ALARMS if condition in sections("alarms")[name]} == wanted


@of_each(ALARMS)
def test_an_alarm_says_what_it_watches_and_leads_to_the_runbook(entry: str) -> None:
    text = sections("alarms")[entry]
    assert re.search(r"\n- \*\*Rings\*\* when .+ is .*\d.*, (over|in) .+", text)
    assert re.search(r"\n- \*\*Without data\*\*: it (rings|is silent)\.\n", text)
    heading = next(", ".join(names) for names in entries() if entry in names)
    assert f"(../operate/runbook.md#{heading.lower().replace(', ', '-')})" in text


CANARY = "the greatest [`CanaryNearLateness`](metrics.md#canarynearlateness)"
OLDEST = "the greatest `ApproximateAgeOfOldestMessage` of `DelayerQueue` (`AWS/SQS`)"
FEWEST = "the least `ApproximateNumberOfMessagesVisible` of `Executor*Queue` (`AWS/SQS`)"


@pytest.mark.parametrize(
    ("entry", "rings"),
    [
        ("CanaryNearAlarm", f"{CANARY} is more than 1 second, in each of 3 periods of 2 minutes."),
        ("DelayerQueueOldAlarm", f"{OLDEST} is 20 minutes or more, in 3 of 5 periods of 1 minute."),
        ("ExecutorQueueDeepAlarm", f"{FEWEST} is more than 5,000, in 3 of 5 periods of 1 minute."),
        ("ApiServerErrorsAlarm", "the sum of `5xx` of `Api` (`AWS/ApiGateway`) is 3 or more, over 5 minutes."),
    ],
    ids=["milliseconds", "seconds", "of-a-loop", "of-one-period"],
)
def test_thresholds_and_periods_are_said_in_words(entry: str, rings: str) -> None:
    assert f"- **Rings** when {rings}\n" in sections("alarms")[entry]


def test_every_metric_is_described_and_no_other_is() -> None:
    assert sorted(sections("metrics")) == sorted(get_args(Metric))
    assert [name for name, (_, text) in metrics.described().items() if len(text) < 20] == []


def test_a_metric_says_where_it_is_counted_and_what_watches_it() -> None:
    assert [name for name, modules in metrics.counted_in().items() if not modules] == []
    watched = {one["MetricName"] for one in resources(alarms.KIND).values() if one.get("Namespace") == "Delayer"}
    for name, text in sections("metrics").items():
        is_watched = name in watched | {"Lateness"}  # this one is in an expression
        assert ("- **Watched by**: no alarm\n" in text) != is_watched
        assert "- **Unit**: " + ("Milliseconds" if name.endswith(("Lateness", "Age")) else "Count") in text
