"""template.yaml reads by feature: each function under its banner, with what belongs to it, in few lines (ADR 0056)."""

import re
from collections.abc import Iterator
from functools import cache

from attrs import frozen

from tests.cfn import (
    TEMPLATE,
    expanded,
    logical_names,
    names_of,
    of_a_loop,
    written,
)
from tests.running.of_each import of_each

BANNER = re.compile(r"  # -{8} (?P<title>.+)")
FEATURE = re.compile(r"(?P<name>[a-z0-9*-]+): (?P<job>.+) \(ADR \d{4}(?:(?:, | to )\d{4})*\)")
MADE = re.compile(r"  # -{4} .+")  # where a part begins or ends that `make contract` writes
LOOP = re.compile(r"Fn::ForEach::\w+")
ORDER = [
    "api-schedule-post",
    "stream-enqueuer",
    "relaxed-claimer",
    "task-1minute-enqueuer",
    "sweep-bucket-enqueuer",
    "delayer-relay",
    "suspects-dispatcher",
    "executor-*",
    "operator-dead-letters",
    "operator-id-key",
    "operator-flow",
    "operator-owner-policy",
    "stream-lifecycle",
    "stream-occurrences",
    "lifecycle-journal",
    "series-stepper",
    "task-1minute-series",
    "subscriber-*",
    "timing-enqueuer",
    "task-1minute-timing",
    "policy-*",
]

FUNCTION = {
    "AWS::Serverless::Function",
    "AWS::IAM::Role",
    "AWS::IAM::Policy",
    "AWS::IAM::ManagedPolicy",
    "AWS::Logs::LogGroup",
} | {"AWS::Lambda::EventSourceMapping"}
ROUTE = {"AWS::ApiGatewayV2::Route", "AWS::ApiGatewayV2::Integration"}
QUEUE = {"AWS::SQS::Queue"}
ALARM = {"AWS::CloudWatch::Alarm"}
LONGER = {
    "delayer-relay": 35,  # what it may do with a control row is not the same for each of them; provisioned pollers
    "relaxed-claimer": 33,  # it claims in batches
    "stream-enqueuer": 34,  # it has suspects, and what its stream gives up on
    "stream-lifecycle": 49,  # it reads the tables of all lanes, each by a mapping that the stack may not have
    "task-1minute-enqueuer": 34,  # it brings back what the streams gave up on
}
OF_LANES = ("FunctionsOfRelaxed", "FunctionsOfTiming")  # loops of log groups, each with the condition of its lane
OF_LOOPS = {"executor-*", "subscriber-*", "policy-*"}


@frozen(kw_only=True)
class Block:
    """One resource as it is written: its logical name, its type, its lines but for empty ones."""

    name: str
    kind: str
    lines: tuple[str, ...]
    copies: int  # how many resources it stands for: more than one in a loop

    @property
    def of_a_queue(self) -> bool:
        """A queue, or an alarm on one."""
        on_one = re.compile(r"Name: QueueName|Dimensions: \*[a-z-]+-queue")
        return self.kind in QUEUE or (self.kind in ALARM and any(on_one.search(line) for line in self.lines))


def lines() -> list[str]:
    """From `Resources:` to the next section."""
    text = TEMPLATE.read_text().partition("\nResources:\n")[2]
    return re.split(r"^\w", text, maxsplit=1, flags=re.MULTILINE)[0].splitlines()


@cache
def features() -> dict[str, list[str]]:
    """What stands below each banner that names a function, by the function's folder."""
    found: dict[str, list[str]] = {}
    title = ""
    for line in lines():
        if banner := BANNER.fullmatch(line):
            feature = FEATURE.fullmatch(banner["title"])
            title = feature["name"] if feature else ""
        elif title and line.strip() and not MADE.fullmatch(line):
            found.setdefault(title, []).append(line)
    return found


def parts(block: list[str], indent: int) -> Iterator[list[str]]:
    """The lines cut before each key of this indent."""
    part: list[str] = []
    for line in block:
        if part and re.match(rf" {{{indent}}}[A-Za-z$]", line):
            yield part
            part = []
        part.append(line)
    if part:
        yield part


def blocks(feature: str) -> list[Block]:
    """The resources below a banner; those of a loop one by one, what is written around them with the first."""
    return [block for part in parts(features()[feature], 2) for block in _blocks(part)]


def _blocks(part: list[str]) -> Iterator[Block]:
    name = re.match(r" *([\w:]+):(?: |$)", part[0])[1]  # type: ignore[index] # each part begins with a key
    if not LOOP.fullmatch(name):
        yield Block(name=name, kind=written()["Resources"][name]["Type"], lines=tuple(part), copies=1)
        return
    collection = names_of(written()["Resources"][name])
    first = next(index for index, line in enumerate(part) if re.match(r"    - .*[$&]\{\w+\}\w*:( \{.*)?$", line))
    around, bodies = part[:first], [part[first].replace("- ", "  ", 1), *part[first + 1 :]]
    for body in parts(bodies, 6):
        made = body[0].strip().partition(":")[0]
        kind = written()["Resources"][name][2][made]["Type"]
        yield Block(name=made, kind=kind, lines=(*around, *body), copies=len(collection))
        around = []


def cost(of: list[Block]) -> float:
    """Lines for one: those of a loop are shared by all that it stands for."""
    return sum(len(block.lines) / block.copies for block in of)


WRITTEN_OUT = [name for name in logical_names() if not of_a_loop(name)]
each_function = of_each(sorted(WRITTEN_OUT))


def test_each_function_has_a_banner_and_each_banner_a_function() -> None:
    """One of a loop has that of the loop, and one of its own if it needs more."""
    assert set(features()) - set(logical_names()) == OF_LOOPS
    assert set(WRITTEN_OUT) <= set(features())
    for name in set(logical_names()) - set(WRITTEN_OUT):
        assert f"{name.partition('-')[0]}-*" in OF_LOOPS


def test_the_features_stand_in_the_order_of_the_flow() -> None:
    named = [name for name in features() if name in ORDER]
    assert named == ORDER
    api = [index for index, name in enumerate(features()) if name.startswith("api-")]
    assert max(api) < list(features()).index("stream-enqueuer")


@each_function
def test_a_function_stands_with_its_role_routes_and_alarms(function: str) -> None:
    """And nothing of another function stands there."""
    name = logical_names()[function]
    here = {block.name for block in blocks(function)}
    assert name in here
    assert f"{name}Role" in here
    for other, resource in expanded()["Resources"].items():
        if resource["Type"] == "AWS::ApiGatewayV2::Route":
            assert (other in here) == (f"{name}Integration" in str(resource["Properties"]["Target"]))
    assert [block.name for block in blocks(function) if block.kind == "AWS::Serverless::Function"] == [name]


def test_a_queue_stands_with_the_function_that_receives_from_it() -> None:
    for function in WRITTEN_OUT:
        queues = {block.name for block in blocks(function) if block.kind in QUEUE}
        resource = expanded()["Resources"][logical_names()[function]]["Properties"]
        own = [event["Properties"]["Queue"] for event in resource.get("Events", {}).values() if event["Type"] == "SQS"]
        received = {queue["Fn::GetAtt"].partition(".")[0] for queue in own}
        assert queues == {queue for queue in received if "DeadLetter" not in queue}


@each_function
def test_a_function_is_short(function: str) -> None:
    """The function, its policy and its mappings; an executor with its share of the executors' loop."""
    own = [block for block in blocks(function) if block.kind in FUNCTION]
    if function.startswith("executor-"):
        own += [block for block in blocks("executor-*") if block.kind in FUNCTION]
    assert cost(own) <= LONGER.get(function, 31)


@each_function
def test_a_route_is_short(function: str) -> None:
    """What an integration says is the same for every function, and written once."""
    own = [block for block in blocks(function) if block.kind in ROUTE]
    routes = [block for block in own if block.kind == "AWS::ApiGatewayV2::Route"]
    for route in routes:
        assert cost([route]) == 1
    assert own == routes


@of_each(sorted(features()))
def test_a_queue_is_short(feature: str) -> None:
    """With its queue of suspects or dead-letter queue and its alarms; each queue says that it is kept, and whose."""
    own = [block for block in blocks(feature) if block.of_a_queue]
    assert cost(own) <= 14 or (feature in OF_LOOPS and sum(len(block.lines) for block in own) <= 24)


@of_each(sorted(features()))
def test_all_else_is_short(feature: str) -> None:
    """An alarm on a function or on a metric of ours, a subscription, the policy of a queue."""
    for block in blocks(feature):
        if not block.of_a_queue and block.kind not in FUNCTION | ROUTE:
            assert cost([block]) <= (10 if feature in OF_LOOPS else 8)


def test_the_lists_of_functions_are_those_of_the_table() -> None:
    """In its order: one loop has those that the API waits for, some have all others but what loops make whole."""
    table = written()["Mappings"]["Functions"]
    loops = {name: names_of(loop) for name, loop in written()["Resources"].items() if LOOP.fullmatch(name)}
    behind_the_api = [name for name, row in table.items() if "ApiTimeoutMillis" in row]
    assert loops["Fn::ForEach::Integrations"] == behind_the_api
    others = [name for loop in ("Functions", *OF_LANES) for name in loops[f"Fn::ForEach::{loop}"]]
    assert sorted(others, key=list(table).index) == [name for name in table if name not in behind_the_api]
    assert [name for name in logical_names().values() if name in table] == list(table)


@of_each(["Executors", "Subscribers", "Policies"])
def test_each_line_of_a_table_is_for_one_of_its_loop(table: str) -> None:
    """What was taken out of the loop is taken out of the table, too, but for a line that keeps it from being empty."""
    needing = {name for name, row in written()["Mappings"][table].items() if row != {"Needs": "nothing"}}
    names = set(names_of(written()["Resources"][f"Fn::ForEach::{table}"]))
    assert needing <= names, f"take out of Mappings, {table}: {', '.join(sorted(needing - names))}"
