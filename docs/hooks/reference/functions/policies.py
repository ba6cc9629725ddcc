"""What the role of each function allows, in one table: what those of a loop may do stands in a row together."""

import re

from docs.hooks.reference.text import table
from tests.cfn import functions, leading_keys, listed, resource_name, statements

WORDS = {
    "receive": {"ReceiveMessage", "DeleteMessage", "GetQueueAttributes"},
    "read": {"DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"},
}


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


def described() -> list[str]:
    """Each function; of those that a loop makes one row for all, and one for whoever may do more."""
    names = set(functions())
    together = {f"{kind_of(one)}-*" for one in names if kind_of(one)}
    more = {one for one in names if kind_of(one) and granted(one)}
    return sorted({one for one in names if not kind_of(one)} | together | more)


def policies() -> str:
    """The table."""
    return table(("function", "may"), [(f"`{name}`", written(name) or "nothing") for name in described()])


def written(function: str) -> str:
    """The cell of a function; empty if it may do nothing more."""
    return "; ".join(f"{resource}: {', '.join(sorted(a))}" for resource, a in sorted(granted(function).items()))
