"""What an idle stack costs, calculated again from the template and the prices of the page."""

import re
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, get_args

import pytest

from delayer.ports.observer import Metric
from tests.cfn import ROOT, events, expanded, functions, resources, written
from tests.template.added import SHIPPED, is_added

PAGE = (ROOT / "docs/decide/cost.md").read_text()
MONTH = 30 * 86_400  # seconds
POLLERS, WAIT = 5, 20  # of Lambda for each queue; seconds of a poll without messages
ALARM, METRIC, SECRET = Decimal("0.10"), Decimal("0.30"), Decimal("0.40")  # a month
GB_SECOND = Decimal("13.33")
OWN = [name for name in functions() if not is_added(name)]
EXECUTORS = [name for name in OWN if name.startswith("executor-") and name != "executor-canary"]
SUBSCRIBERS = [name for name in OWN if name.startswith("subscriber-")]
POLICIES = [name for name in OWN if name.startswith("policy-")]


def rows(heading: str) -> dict[str, tuple[str, Decimal]]:
    """How many and what they cost, by the text before it without its links."""
    section = re.split(r"^#+ ", PAGE.split(f"# {heading}\n")[1], flags=re.MULTILINE)[0]
    found = re.findall(r"^\| (.+?) \| ([^|]*?) ?\| \**\$([\d.]+)\** \|$", section, re.MULTILINE)
    return {re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", what): (many, Decimal(cost)) for what, many, cost in found}


def rounded(dollars: Decimal) -> Decimal:
    return dollars.quantize(Decimal("0.01"), ROUND_HALF_UP)


def polling(queues: int) -> Decimal:
    [price] = re.findall(r"^\| SQS request \(64 KB\) \| ([\d.]+) \|", PAGE, re.MULTILINE)
    return Decimal(queues * POLLERS * MONTH // WAIT) * Decimal(price) / 1_000_000


def queues_of(function: str) -> int:
    return len([1 for reader, _ in events("SQS") if reader == function])


def metrics_of(alarm: dict[str, Any]) -> int:
    """An alarm with an expression is billed for each metric in it."""
    return sum("MetricStat" in one for one in alarm["Metrics"]) if "Metrics" in alarm else 1


def alarms(names: str) -> int:
    """The metrics of all alarms with such a name."""
    found = [alarm for name, alarm in resources("AWS::CloudWatch::Alarm").items() if re.fullmatch(names, name)]
    return sum(map(metrics_of, found))


def alarms_of(function: str) -> int:
    """Those that a loop makes for a function."""
    kind, _, name = function.partition("-")
    return alarms(rf"{kind.capitalize()}{name.replace('-', '')}(Queue|Suspects|Behind)\w*")


def test_an_executor() -> None:
    found = rows("An executor")
    assert {queues_of(name) for name in EXECUTORS} == {2}
    assert {alarms_of(name) for name in EXECUTORS} == {8}
    assert found["long polling of its queue and its queue of suspects"][1] == rounded(polling(2))
    assert found["its five alarms, which have eight metrics"] == ("8", 8 * ALARM)
    assert found["**an executor**"][1] == rounded(polling(2) + 8 * ALARM)
    assert f"= {POLLERS * MONTH // WAIT:,} requests" in PAGE


as_shipped = pytest.mark.skipif(
    not set(functions()) >= SHIPPED, reason="an action that is shipped was taken out: it costs less"
)


@as_shipped
def test_an_idle_stack() -> None:
    fires, watches = tables()
    of_path = sum(queues_of(name) for name in OWN if not name.startswith(("executor-", "subscriber-", "policy-")))
    assert of_path == 7
    assert fires["long polling of seven queues by Lambda"][1] == rounded(polling(7))
    secrets = len(resources("AWS::SecretsManager::Secret"))
    [row] = [row for name, row in fires.items() if name.startswith("the secret behind")]
    assert row == (str(secrets), secrets * SECRET)
    own = [*EXECUTORS, *SUBSCRIBERS, *POLICIES]
    for what, names in (("executors", EXECUTORS), ("subscribers", SUBSCRIBERS), ("policies", POLICIES)):
        [(count, cost)] = [row for name, row in fires.items() if name.startswith(f"long polling for {what}")]
        assert (count, cost) == (str(len(names)), rounded(polling(sum(map(queues_of, names)))))
        [(count, cost)] = [row for name, row in watches.items() if name.startswith(f"alarms of {what}")]
        assert (count, cost) == (str(len(names)), sum(map(alarms_of, names)) * ALARM)
    added = [name for name in functions() if is_added(name)]
    others = alarms(r"\w+") - sum(alarms_of(name) for name in [*own, *added]) - of_canary()
    name = "all other alarms; those with an expression count once for each of its metrics"
    assert watches[name] == (str(others), others * ALARM)
    written_always = re.findall(r"`(\w+)`", PAGE.split("of the 35 there are, ")[1].split(" are written by")[0])
    assert len([name for name in get_args(Metric) if not name.startswith("Canary")]) == 35
    assert set(written_always) <= set(get_args(Metric))
    found = watches["custom metrics that are written though nothing is scheduled"]
    assert found == (str(len(written_always)), len(written_always) * METRIC)
    for table, name in ((fires, "**what fires**"), (watches, "**what watches**")):
        whole = table.pop(name)[1]
        assert whole == sum(cost for _, cost in table.values())


def tables() -> tuple[dict[str, tuple[str, Decimal]], dict[str, tuple[str, Decimal]]]:
    """What fires, and what watches."""
    found = list(rows("When nothing is scheduled").items())
    end = [name for name, _ in found].index("**what fires**") + 1
    return dict(found[:end]), dict(found[end:])


@as_shipped
def test_what_fires_with_few_actions() -> None:
    """Beside `remote`, which each stack has: with one at most six dollars a month, and 30 cents a further queue."""
    fires, watches = tables()
    without = fires["**what fires**"][1] - rounded(polling(2 * len(EXECUTORS)))
    one, two = (without + rounded(polling(2 * executors)) for executors in (2, 3))
    assert f"**With it and one action** what fires costs ${one}, with it and two actions ${two}." in PAGE
    watched = watches["**what watches**"][1] - (len(EXECUTORS) - 2) * 8 * ALARM
    assert f"With `remote` and one action it is ${watched}." in PAGE
    assert one <= 6
    assert polling(1) <= Decimal("0.30")


@pytest.mark.skipif(not set(functions()) >= SHIPPED, reason="an action that is shipped was taken out: it costs less")
def test_the_pollers_of_a_large_stack() -> None:
    mappings = expanded()["Mappings"]
    executors = [name.removeprefix("executor-") for name in OWN if name.startswith("executor-")]
    own = [mappings["Executors"].get(name, {}).get("Pollers", 2) for name in executors]
    pollers = mappings["Scales"]["large"]["RelayPollers"] + sum(own)
    [hourly] = re.findall(r"^\| a provisioned poller, each hour \| ([\d.]+) dollars \|", PAGE, re.MULTILINE)
    monthly = Decimal(hourly) * 720
    assert f"there are {pollers} provisioned pollers besides, ${pollers * monthly:.0f} a month" in PAGE
    assert f"${monthly:.2f} each" in PAGE


def test_lambda_time_follows_the_memory_of_the_template() -> None:
    """Seconds times gigabytes times the price, and the sums above it."""
    sizes = {"relay": written()["Mappings"]["Scales"]["small"]["RelayMemory"]}
    sizes["executor"] = written()["Mappings"]["Executors"]["http-request"]["Memory"]
    line = r"^\| (?:accept|enqueuer|relay|executor)\b.*? \| ([\d,]+) MB" + r" \| ([\d.]+) s \| \$([\d.]+)" * 2 + r" \|$"
    found = [[Decimal(one.replace(",", "")) for one in row] for row in re.findall(line, PAGE, re.MULTILINE)]
    assert [row[0] for row in found] == [256, 256, sizes["relay"], sizes["executor"]]
    for memory, bursts, bursts_cost, trickle, trickle_cost in found:
        assert rounded(memory / 1024 * bursts * GB_SECOND) == bursts_cost
        assert rounded(memory / 1024 * trickle * GB_SECOND) == trickle_cost
    bursts_sum, trickle_sum = sum(row[2] for row in found), sum(row[4] for row in found)
    assert f"| **Lambda time** | | | **${bursts_sum}** | | **${trickle_sum}** |" in PAGE
    assert f"Lambda time | ${bursts_sum} | ${trickle_sum} |" in PAGE


def test_the_sum_with_the_default_configuration_leads() -> None:
    section = PAGE.split("## What a million costs\n")[1].split("\n## ")[0]
    costs = re.findall(r"^\| (.+?) \| \**\$([\d.]+)\** \| \**\$([\d.]+)\** \|$", section, re.MULTILINE)
    *parts, (name, bursts, trickle) = costs
    assert name == "**together**"
    assert Decimal(bursts) == sum(Decimal(one) for _, one, _ in parts)
    assert Decimal(trickle) == sum(Decimal(one) for _, _, one in parts)
    assert PAGE.index("## What a million costs") < PAGE.index("## A million schedules")


def of_canary() -> int:
    return alarms(r"Canary\w+") + alarms_of("executor-canary")


def test_the_canary() -> None:
    found = rows("The canary")
    assert found["long polling of its queue and its queue of suspects"][1] == rounded(polling(2))
    name = "its alarms: eight metrics as for each executor, and four of its own"
    assert found[name] == (str(of_canary()), of_canary() * ALARM)
    whole = found.pop("**the canary**")[1]
    assert whole == sum(cost for what, (_, cost) in found.items() if not what.startswith(("its two", "its alarms")))
    together = whole + found["its two metrics"][1] + found[name][1]
    assert tables()[1]["the canary, with its metrics and alarms"][1] == together
    stays = rounded(polling(2)) + alarms_of("executor-canary") * ALARM
    assert f"`Canary=off` saves ${together - stays} " in PAGE


@pytest.mark.parametrize("path", ["docs/decide/cost.md", "adr/0035-cost.md"])
def test_the_sum_is_named_in_words(path: str) -> None:
    fires, watches = tables()
    whole = fires["**what fires**"][1] + watches["**what watches**"][1]
    assert f"about ${round(whole)} a month" in (ROOT / path).read_text()


def test_the_relaxed_lane_beside_the_precise_one() -> None:
    """Each column adds up, and the precise ones are those of the page on costs."""
    text = (ROOT / "docs/use/relaxed.md").read_text()
    found = re.findall(r"^\| \**([^|*]+?)\** \|" + r" \**\$([\d.]+)\** \|" * 4 + "$", text, re.MULTILINE)
    table = {name: [Decimal(one) for one in costs] for name, *costs in found}
    without, lambda_time, together = table.pop("without Lambda time"), table.pop("Lambda time"), table.pop("together")
    assert len(table) == 5
    for column in range(4):
        parts = sum(costs[column] for costs in table.values())
        assert abs(parts - without[column]) <= Decimal("0.011"), "rounded"
        assert without[column] + lambda_time[column] == together[column]
    assert f"| **without Lambda time** | | **${without[0]}** | | **${without[2]}** |" in PAGE
    assert f"| **Lambda time** | | | **${lambda_time[0]}** | | **${lambda_time[2]}** |" in PAGE
