"""A page for each function: its README, and what template.yaml says of it."""

from functools import cache

from docs.hooks.reference.functions import facts, index
from docs.hooks.reference.functions.rights import rights
from docs.hooks.reference.stack import alarms
from docs.hooks.reference.stack.values import only_if
from docs.hooks.reference.text import placed, record, table
from tests import cfn

INDEX = "reference/functions.md"
BASE = (
    "Its role allows this, and to write into its own log group. With "
    "[`Tracing=true`](docs:reference/parameters.md#tracing) it may also send traces to X-Ray. Nothing else is allowed."
)
DEFAULTS = "with the defaults of the [parameters](docs:reference/parameters.md)"
# By the first word of their names: the metrics of these alarms do not say which function it is.
SHARED = {"api": ("ApiServerErrorsAlarm", "UnexpectedAlarm"), "job": ("UnexpectedAlarm",)}
NO_ALARM = "No alarm is about this function."
NOT_SCHEDULED = ("executor-canary", "executor-remote")  # by clients: they have no page among the actions


def navigation() -> list[dict[str, list[dict[str, str]]]]:
    """The pages, in groups."""
    return [{title: [{name: path(name)} for name in names]} for title, names in index.grouped().items()]


def path(function: str) -> str:
    """Its page, below docs/."""
    return f"reference/functions/{function}.md"


@cache
def pages() -> dict[str, str]:
    """The text of each page, by its path below docs/."""
    return {path(name): placed(page(name), path(name)) for name in cfn.functions()}


def page(function: str) -> str:
    """With links from docs/."""
    size = f"{facts.memory(function)} of memory, and {facts.timeout(function)} at most for an invocation, {DEFAULTS}."
    sections = {
        "What invokes it": "\n".join(
            [*(f"- {sentence}" for sentence in facts.invoked_by(function)), only_if(cfn.logical_names()[function])]
        ),
        "Memory and time": size + recursion(function),
        "What it may do": f"{BASE}\n\n{rights(function)}",
        "Its settings": settings(function),
        "What watches it": watching(function),
    }
    facts_of_it = [f"## {title}\n\n{text.strip()}\n" for title, text in sections.items()]
    return "\n".join([f"# {function}\n\n{about(function)}\n", *facts_of_it])


def about(function: str) -> str:
    """Its README; of what clients name in a schedule the beginning, because the rest has a page already."""
    kind, _, name = function.partition("-")
    begins = index.first_paragraph(function)
    if kind == "executor" and function not in NOT_SCHEDULED:
        has = "has its fields, an example, and what counts as an answer"
        return f"{begins}\n\n[The action `{name}`](docs:actions/{name}.md) {has}."
    if kind == "policy":
        return f"{begins}\n\n[The policy `{name}`](docs:reference/policies.md#{name}) has its fields and an example."
    return index.readme(function)


def recursion(function: str) -> str:
    """Whether Lambda may see it call itself."""
    is_allowed = cfn.functions()[function].get("RecursiveLoop") == "Allow"
    return f" It may send messages to the queue that it reads ({record(20)})." if is_allowed else ""


def settings(function: str) -> str:
    """Its environment variables."""
    return table(("variable", "value"), [(f"`{name}`", value) for name, value in facts.settings(function)]) + (
        "\nBeside them it has [those of all functions](docs:reference/functions.md#settings-of-all-functions).\n"
    )


def watching(function: str) -> str:
    """The alarms on it, on what it reads, and on its mappings; those that many functions share."""
    shared = SHARED.get(function.partition("-")[0], ())
    lines = [f"- {alarms.link(name)}: {alarms.text(name)}" for name in [*alarms.on(function), *shared]]
    return "\n".join(lines) or NO_ALARM
