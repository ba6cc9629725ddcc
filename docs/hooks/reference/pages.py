"""Which marker stands for what."""

import re
from collections.abc import Callable
from functools import cache, partial

from docs.hooks.reference.core import policies, states
from docs.hooks.reference.functions import index, routes
from docs.hooks.reference.functions import policies as rights
from docs.hooks.reference.stack import alarms, metrics, parameters
from docs.hooks.reference.surfaces import commands, console, findings, makefile
from docs.hooks.reference.text import placed

MARKER = re.compile(r"^<!-- generated: (\S+)(?: (.+?))? -->$", re.MULTILINE)
MAKERS: dict[str, Callable[..., str]] = {
    "functions": index.functions,
    "routes": routes.routes,
    "rights": rights.policies,
    "shared-settings": index.shared_settings,
    "policies": policies.policies,
    "parameters": parameters.group,
    "other-parameters": parameters.others,
    "states": states.states,
    "events": states.events,
    "event-table": states.event_table,
    "transitions": states.transitions,
    "alarms": alarms.alarms,
    "metrics": metrics.metrics,
    "shared-flags": commands.shared_flags,
    "command-table": commands.command_table,
    "commands": commands.commands,
    "make": makefile.targets,
    "console": console.pages,
    "findings": findings.findings,
}


def filled(markdown: str, path: str) -> str:
    """A page with what is generated in the place of its markers."""
    return MARKER.sub(lambda marker: placed(made(marker[1], marker[2]), path).strip(), markdown)


@cache
def made(name: str, argument: str | None) -> str:
    """What a marker stands for, with links from docs/."""
    maker = MAKERS[name]
    return partial(maker, argument)() if argument else maker()
