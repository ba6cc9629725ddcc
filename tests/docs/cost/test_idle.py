"""What an idle stack costs, calculated again from the template and the prices of the page."""

import re
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest

from delayer.engines.ports import WRITTEN_WITH_ALL
from delayer.schedule.instants import DAY, ROW_LIFETIME
from tests.cfn import ROOT, events, expanded, expanded_with, folder_of, functions, resources, written
from tests.template.added import SHIPPED

PAGE = (ROOT / "docs/decide/cost.md").read_text()
MONTH = 30 * 86_400  # seconds
WAIT = 20  # seconds of a poll without messages
BOUNDED, FREE = 5, 2  # pollers of Lambda for a queue, if the mapping has MaximumConcurrency, and if it has none
ALARM, METRIC = Decimal("0.10"), Decimal("0.30")  # a month
GB_SECOND = Decimal("13.33")
DEFAULT = str(written()["Parameters"]["Actions"]["Default"]).split(",")
THERE = expanded_with()["Resources"]  # by default, without the lanes, policies and subscribers that nobody has named
IN_USE = [folder_of(one["Properties"]) for one in THERE.values() if one["Type"] == "AWS::Serverless::Function"]
EXECUTORS = [name for name in IN_USE if name.startswith("executor-") and name != "executor-canary"]
OF_PATH = [name for name in IN_USE if not name.startswith("executor-")]


OF_GROUPS = "job-group-canceller"  # its queue is FIFO


def rows(heading: str) -> dict[str, tuple[str, Decimal]]:
    """How many and what they cost, by the text before it without its links."""
    section = re.split(r"^#+ ", PAGE.split(f"# {heading}\n")[1], flags=re.MULTILINE)[0]
    found = re.findall(r"^\| (.+?) \| ([^|]*?) ?\| \**\$([\d.]+)\** \|$", section, re.MULTILINE)
    return {re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", what): (many, Decimal(cost)) for what, many, cost in found}


def rounded(dollars: Decimal) -> Decimal:
    return dollars.quantize(Decimal("0.01"), ROUND_HALF_UP)


def price_of(what: str) -> Decimal:
    [price] = re.findall(rf"^\| {re.escape(what)} \| ([\d.]+) \|", PAGE, re.MULTILINE)
    return Decimal(price)


FIFO = price_of("SQS request of a FIFO queue") / price_of("SQS request (64 KB)")


def polling(pollers: Decimal | int) -> Decimal:
    return Decimal(pollers * MONTH // WAIT) * price_of("SQS request (64 KB)") / 1_000_000


def pollers_of(*names: str) -> list[int]:
    """How many poll each queue of these functions."""
    return [BOUNDED if is_bounded(event) else FREE for reader, event in events("SQS") if reader in names]


def is_bounded(mapping: dict[str, Any]) -> bool:
    """With Scale=small. Without the bound Lambda may scale down to two (AWS, *Configuring scaling behavior*)."""
    scaling = mapping.get("ScalingConfig", {})
    scaling = scaling["Fn::If"][2] if "Fn::If" in scaling else scaling
    none = {"Ref": "AWS::NoValue"}
    return bool(scaling.get("MaximumConcurrency", none) != none)


def metrics_of(alarm: dict[str, Any]) -> int:
    """An alarm with an expression is billed for each metric in it."""
    return sum("MetricStat" in one for one in alarm["Metrics"]) if "Metrics" in alarm else 1


def alarms(names: str, conditions: tuple[str, ...] = ("HasAlarms", "HasCanaryAlarms")) -> int:
    """The metrics of all alarms with such a name that a stack has by default."""
    every = expanded()["Resources"]
    found = [
        alarm
        for name, alarm in resources("AWS::CloudWatch::Alarm").items()
        if re.fullmatch(names, name) and name in THERE and every[name]["Condition"] in conditions
    ]
    return sum(map(metrics_of, found))


def alarms_of(*names: str) -> int:
    """Those that the loop makes for executors."""
    return sum(alarms(rf"{name.capitalize().replace('-', '')}(?:Queue\w*|ErrorsAlarm)") for name in names)


def test_an_executor() -> None:
    found = rows("An executor")
    assert {tuple(pollers_of(name)) for name in EXECUTORS if name != "executor-remote"} == {(BOUNDED,)}
    assert pollers_of("executor-remote") == [FREE]
    assert {alarms_of(name) for name in EXECUTORS} == {2}
    assert found["long polling of its queue, by five pollers"][1] == rounded(polling(BOUNDED))
    assert found["its alarms"] == ("2", 2 * ALARM)
    assert found["**an executor**"][1] == rounded(polling(BOUNDED) + 2 * ALARM)
    assert f"{MONTH // WAIT:,} requests" in PAGE


as_shipped = pytest.mark.skipif(
    not set(functions()) >= SHIPPED, reason="an action that is shipped was taken out: it costs less"
)


@as_shipped
def test_an_idle_stack() -> None:
    fires, watches = tables()
    of_path = pollers_of(*(name for name in OF_PATH if name != OF_GROUPS))
    of_five, of_two = (sum(one for one in of_path if one == number) for number in (BOUNDED, FREE))
    for begins, pollers in (
        ("long polling of the delayer queue", of_five),
        ("long polling of the queues of the sweep", of_two),
        ("long polling of the queue for groups, which is FIFO", sum(pollers_of(OF_GROUPS)) * FIFO),
        ("long polling for executors", sum(pollers_of(*EXECUTORS))),
    ):
        [(_, cost)] = [row for name, row in fires.items() if name.startswith(begins)]
        assert cost == rounded(polling(pollers)), begins
    assert resources("AWS::SecretsManager::Secret") == {}
    assert all("SSESpecification" not in table for table in resources("AWS::DynamoDB::Table").values())
    [(count, cost)] = [row for name, row in watches.items() if name.startswith("alarms of executors")]
    assert (count, cost) == (str(alarms_of(*EXECUTORS)), alarms_of(*EXECUTORS) * ALARM)
    others = alarms(r"\w+") - sum(alarms_of(name) for name in functions() if name.startswith("executor-")) - 2
    name = "all other alarms; those with an expression count once for each of its metrics"
    assert watches[name] == (str(others), others * ALARM)
    for table, name in ((fires, "**what fires**"), (watches, "**what watches**")):
        whole = table.pop(name)[1]
        assert whole == sum(cost for _, cost in table.values())


def test_what_binds_the_polling() -> None:
    """The sums of the text, by the mappings of the default."""
    every = pollers_of(*IN_USE)
    bounded, free = (sum(one for one in every if one == number) for number in (BOUNDED, FREE))
    assert bounded // BOUNDED == 6
    of_groups = sum(pollers_of(OF_GROUPS))
    theirs = polling(bounded - of_groups) + polling(of_groups * FIFO)
    assert f"They cost ${rounded(theirs)}, all others ${rounded(polling(free))}." in PAGE


def test_what_an_idle_stack_writes() -> None:
    """Of the metrics, those of the canary alone: what ticks and canaries count else is written with all alarms."""
    assert set(WRITTEN_WITH_ALL) >= {"Claimed", "Enqueued", "Swept"}
    assert PAGE.count("| its two metrics | 2 | $0.60 |") == 1


def tables() -> tuple[dict[str, tuple[str, Decimal]], dict[str, tuple[str, Decimal]]]:
    """What fires, and what watches."""
    found = list(rows("When nothing is scheduled").items())
    end = [name for name, _ in found].index("**what fires**") + 1
    return dict(found[:end]), dict(found[end:])


@pytest.mark.skipif(not set(functions()) >= SHIPPED, reason="an action that is shipped was taken out: it costs less")
def test_the_pollers_of_a_large_stack() -> None:
    mappings = written()["Mappings"]
    executors = DEFAULT
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
    found = re.findall(r"^\| (.+?) \| \**\$([\d.]+)\** \| \**\$([\d.]+)\** \|$", section, re.MULTILINE)
    costs = {name: (Decimal(bursts), Decimal(trickle)) for name, bursts, trickle in found}
    whole, fired = costs.pop("**together**"), costs.pop("**without events and journal**")
    for column in (0, 1):
        parts = [cost[column] for cost in costs.values()]
        assert whole[column] == sum(parts)
        assert fired[column] == sum(parts[:3])
    assert PAGE.index("## What a million costs") < PAGE.index("## A million schedules")


def test_what_comes_with_a_million() -> None:
    """Bytes, days and requests times prices."""
    costs = {name: row for name, *row in cells("What comes with it")}
    logs, ledger, fair, journal = (next(costs[one] for one in costs if one.startswith(begin)) for begin in BESIDE)
    line, accept, executor, access, more = 285, 193, 253, 315, 26
    trickle = Decimal(line + accept + executor + access + 4 * more) / 1000 * Decimal("0.50")
    bursts = Decimal(line + accept + executor // 10 + access + 3 * more + more // 10) / 1000 * Decimal("0.50")
    assert abs(Decimal(logs[1].strip("$")) - trickle) <= Decimal("0.01")
    assert abs(Decimal(logs[0].strip("$")) - bursts) <= Decimal("0.05")
    kept = Decimal("0.25") + Decimal("0.20")  # a GB and month, with its recovery
    assert ledger == [f"${rounded(Decimal('0.4') * ROW_LIFETIME / (30 * DAY) * kept)}"] * 2
    assert fair == ["$0.06", "$0.60"]
    days = int(written()["Mappings"]["Scales"]["small"]["JournalDays"])
    whole = (Decimal("1.2") * (days + ROW_LIFETIME // DAY) + Decimal("0.8") * days) / 30 * kept
    assert journal == [f"${rounded(whole)}"] * 2
    assert f"1.2 KB of definition for {days + ROW_LIFETIME // DAY} days" in PAGE


BESIDE = ("logs:", "ledger rows", "fair queues", "journal:")


def cells(heading: str) -> list[list[str]]:
    """Each row of the table below a heading."""
    section = re.split(r"^#+ ", PAGE.split(f"# {heading}\n")[1], flags=re.MULTILINE)[0]
    return [
        [one.strip() for one in row.strip("|").split("|")] for row in re.findall(r"^\|.+\|$", section, re.MULTILINE)
    ]


def test_the_canary() -> None:
    found = rows("The canary")
    assert found["long polling of its queue, by two pollers"][1] == rounded(polling(sum(pollers_of("executor-canary"))))
    of_canary = alarms(r"Canary\w+") + alarms_of("executor-canary")
    name = "its alarms: two as for each executor, and two of its own"
    assert found[name] == (str(of_canary), of_canary * ALARM)
    [warm] = [cost for name, (_, cost) in found.items() if name.startswith("what keeps executors warm, a message")]
    [sqs], [invocation] = (
        re.findall(rf"^\| {what} \| ([\d.]+) \|", PAGE, re.MULTILINE)
        for what in (r"SQS request \(64 KB\)", "Lambda invocation")
    )
    each = 3 * Decimal(sqs) + Decimal(invocation)  # a send, a receive, a delete
    assert warm == rounded(len(EXECUTORS) * (MONTH // 60) * each / 1_000_000)
    whole = found.pop("**the canary**")[1]
    assert whole == sum(cost for what, (_, cost) in found.items() if not what.startswith(("its two", "its alarms")))
    together = whole + found["its two metrics"][1] + found[name][1]
    assert tables()[1]["the canary, with its metrics and alarms"][1] == together
    stays = rounded(polling(FREE)) + 2 * ALARM
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
