"""The page of the stack's resources says what the template says: tables, and who may do what."""

import re

from delayer.repositories.registry.jobs import group_job_list, job_list
from delayer.repositories.registry.registry import group_list, name_list, request_list
from tests.cfn import ROOT, functions, leading_keys, listed, managed_policies_of, resource_name, resources, statements
from tests.running.of_each import of_each

PAGE = (ROOT / "docs/reference/resources.md").read_text()

WORDS = {
    "receive": {"ReceiveMessage", "DeleteMessage", "GetQueueAttributes"},
    "read": {"DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"},
}


def rows(heading: str) -> dict[str, list[str]]:
    """The rows of the table below a heading, by the code in their first cell."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = re.findall(r"^\| `.+$", section, re.MULTILINE)
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {first.strip("`"): others for first, *others in cells}


OF_A_LOOP = re.compile(r"\b(Executor|Subscriber|Policy)[a-z0-9]+(Queue)\b|(?<=passed#)(executor)-[a-z0-9-]+")
FUNCTION_OF_THE_STACK = re.compile(r"arn:.*:function:\$\{AWS::StackName\}-")
KINDS = ("executor", "subscriber", "policy")


def kind_of(function: str) -> str:
    """`executor`, `subscriber` and `policy` for those that a loop makes: they have one row together."""
    return function.partition("-")[0] if function.startswith(KINDS) else ""


def granted(function: str) -> dict[str, set[str]]:
    """What may be done with each resource: by `executor-*`, what every executor may do, and by one of them the rest."""
    if function.endswith("-*"):
        several = [allowed(one) for one in functions() if f"{kind_of(one)}-*" == function]
        return {
            name: actions for name, actions in several[0].items() if all(one.get(name) == actions for one in several)
        }
    common = granted(f"{kind_of(function)}-*") if kind_of(function) else {}
    return {name: actions for name, actions in allowed(function).items() if name not in common}


def of_any(name: str) -> str:
    """`ExecutorcanaryQueue` is `Executor*Queue`, and `passed#executor-canary` is `passed#executor-*`."""
    name = FUNCTION_OF_THE_STACK.sub("", name)
    return OF_A_LOOP.sub(lambda found: f"{found[1]}*{found[2]}" if found[1] else f"{found[3]}-*", name)


def allowed(function: str) -> dict[str, set[str]]:
    """But for the function's own log group."""
    found: dict[str, set[str]] = {}
    for statement in statements(function):
        actions = {action.partition(":")[2] for action in listed(statement["Action"])}
        keys = leading_keys(statement)
        limit = f" ({', '.join(sorted(f'`{key}`' for key in keys))})" if keys else ""
        for resource in listed(statement["Resource"]) if "CreateLogStream" not in actions else []:
            found.setdefault(of_any(f"`{resource_name(resource)}`{limit}"), set()).update(actions)
    return {resource: shortened(actions) for resource, actions in found.items()}


def shortened(actions: set[str]) -> set[str]:
    """One word for what an event source needs."""
    for word, whole in WORDS.items():
        if whole <= actions:
            actions = actions - whole | {word}
    return actions


def stated(cell: str) -> dict[str, set[str]]:
    """The same, as it stands in the page; rows in any order."""
    found = {}
    for entry in cell.split("; ") if cell != "nothing" else []:
        subject, _, actions = entry.partition(": ")
        name, _, limit = subject.partition(" (")
        ordered = f" ({', '.join(sorted(limit.rstrip(')').split(', ')))})" if limit else ""
        found[name + ordered] = set(actions.split(", "))
    return found


def written(function: str) -> str:
    """The cell as it should be."""
    return "; ".join(f"{resource}: {', '.join(sorted(a))}" for resource, a in sorted(granted(function).items()))


NEEDED = sorted({f"{kind_of(one)}-*" if kind_of(one) else one for one in functions()})


def test_all_functions_are_there() -> None:
    """A row for one executor says what it may do beyond the others. It may be left out: its own page can say it."""
    described = set(rows("Policies"))
    assert set(NEEDED) <= described
    assert {one for one in described if not one.endswith("-*")} <= set(functions())


def test_each_policy_belongs_to_a_function() -> None:
    """Otherwise what it allows would be missing from the page."""
    roles = [function["Role"]["Fn::GetAtt"].removesuffix(".Arn") for function in functions().values()]
    attached = [role["Ref"] for policy in resources("AWS::IAM::Policy").values() for role in policy["Roles"]]
    assert sorted(resources("AWS::IAM::Role")) == sorted([*roles, "ApiInvokerRole"])
    assert set(attached) <= set(roles)
    managed = {name for role in resources("AWS::IAM::Role") for name in managed_policies_of(role)}
    assert managed == set(resources("AWS::IAM::ManagedPolicy"))


@of_each(sorted({*NEEDED, *rows("Policies")}))
def test_the_policies_are_those_of_the_template(function: str) -> None:
    cells = rows("Policies").get(function, [])
    assert [stated(cell) for cell in cells] == [granted(function)], f"it should be: {written(function) or 'nothing'}"


def test_the_tables_are_those_of_the_template() -> None:
    """Key, stream and what expires."""
    tables = resources("AWS::DynamoDB::Table")
    assert sorted(rows("Tables")) == sorted(tables)
    for name, table in tables.items():
        key, stream, expires, *_ = rows("Tables")[name]
        assert re.findall(r"`(\w+)`", key) == [part["AttributeName"] for part in table["KeySchema"]], name
        assert (stream != "no") == ("StreamSpecification" in table), name
        assert (expires != "never") == ("TimeToLiveSpecification" in table), name


def test_the_lists_of_the_registry_are_those_of_the_code() -> None:
    """The key `list` of a name, an idempotency key, a group, a job, and the latest job of a group."""
    shown = [form.split("#")[0] for form in rows("Lists of the registry")]
    coded = [
        make("owner", "x").split("#")[0] for make in (name_list, request_list, group_list, job_list, group_job_list)
    ]
    assert shown[: len(coded)] == coded
