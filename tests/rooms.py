"""The rooms of the package in their order, the layers in them, and what each may import (ADR 0171).

It imports nothing: a process that looks at a cold start reads it, too.
"""

# Each room of the package, in the order of the flow, and the rooms that it imports: all of them stand above it, so that
# no arrow leads upwards and there is no cycle. `routes`, `use_cases` and the like within a room are layers.
ROOMS: dict[str, set[str]] = {
    "schedule": set(),
    "engines": {"schedule"},
    "records": {"schedule", "engines"},
    "recurrence": {"schedule"},
    "ledger": {"schedule", "engines"},
    "masking": {"schedule"},
    "http": {"schedule", "engines", "recurrence", "masking"},
    "actions": {"schedule", "engines", "ledger", "masking", "http"},
    "history": {"schedule", "engines", "ledger", "masking"},
    "owners": {"schedule", "engines", "records", "http", "actions", "history"},
    "flow": {"schedule", "engines", "actions"},
    "connections": {"schedule", "engines", "ledger", "masking", "http", "actions", "history", "owners", "flow"},
    "accept": {
        "schedule",
        "engines",
        "records",
        "ledger",
        "masking",
        "http",
        "actions",
        "history",
        "owners",
        "flow",
        "connections",
    },
    "jobs": {"schedule", "engines", "ledger", "http", "accept"},
    "dead_letters": {"schedule", "engines", "records", "ledger", "masking", "actions", "history"},
    "recovery": {"schedule", "engines", "records", "dead_letters"},
    "enqueue": {"schedule", "engines", "records", "ledger", "actions", "dead_letters", "recovery"},
    "relay": {"schedule", "engines", "ledger", "actions", "flow", "dead_letters", "recovery", "enqueue"},
    "execute": {"schedule", "engines", "ledger", "actions", "flow", "dead_letters", "recovery"},
    "timing": {"schedule", "engines", "records", "ledger", "connections", "accept"},
    "signing": {"schedule", "engines", "records", "http", "actions"},
    "series": {
        "schedule",
        "engines",
        "records",
        "recurrence",
        "ledger",
        "masking",
        "http",
        "actions",
        "history",
        "owners",
        "flow",
        "connections",
        "accept",
        "jobs",
        "enqueue",
    },
    "lambdas": {"schedule", "engines", "records", "ledger", "http", "actions", "history", "dead_letters", "recovery"},
    "wiring": {
        "schedule",
        "engines",
        "records",
        "recurrence",
        "ledger",
        "actions",
        "history",
        "owners",
        "flow",
        "connections",
        "accept",
        "jobs",
        "dead_letters",
        "recovery",
        "enqueue",
        "relay",
        "execute",
        "timing",
        "signing",
        "series",
        "lambdas",
    },
    "extension": {
        "schedule",
        "engines",
        "ledger",
        "http",
        "actions",
        "history",
        "accept",
        "timing",
        "signing",
        "wiring",
    },
    "targets": {"schedule", "engines", "masking", "actions", "connections", "extension"},
    "serve": {
        *("schedule", "engines", "http", "accept", "actions", "connections", "dead_letters", "enqueue", "execute"),
        *("extension", "flow", "history", "ledger", "owners", "records", "relay", "signing", "targets", "timing"),
        "wiring",
    },
}
PURE = {"schedule", "recurrence", "masking"}  # these rooms are rules and nothing else
RULES = {  # these files are rules, and have a name of their own
    *(f"{room}.{name}" for room in ROOMS for name in ("model", "admission")),
    "history.cloud_events",
    "flow.words",
    "history.received",
    "http.field_errors",
    "http.json_body",
    "http.problem",
}
WHOLE = {"lambdas", "wiring", "extension", "targets", "serve"}  # these are a layer of their own
# What the name of a file or folder inside a room says that it is, and which layers it imports, in its room and others.
LAYERS: dict[str, set[str]] = {
    "rules": set(),
    "ports": {"rules"},
    "engines.process": {"rules", "ports"},
    "engines.workers": {"rules"},
    "engines.filter_policy": set(),
    "engines.store": {"rules", "ports"},
    "engines.aws": {"rules", "ports", "engines.store"},
    "engines.sqlite": {"rules", "ports", "engines.store"},
    "engines.memory": {"rules", "ports"},
    "repository": {"rules", "ports", "engines.store"},
    "use_cases": {"rules", "ports"},
    "routes": {"rules", "ports", "engines.process"},
    "lambdas": {"rules", "ports", "engines.store", "engines.aws", "repository", "routes"},
    "wiring": {
        "rules",
        "ports",
        "engines.process",
        "engines.workers",
        "engines.store",
        "engines.aws",
        "engines.filter_policy",
        "repository",
        "use_cases",
        "lambdas",
    },
    "extension": {"rules", "ports", "engines.process", "engines.aws", "engines.memory", "wiring"},
    "targets": {"rules", "ports", "engines.process", "engines.aws", "use_cases", "extension"},
    "serve": {
        *("rules", "ports", "routes", "repository", "use_cases", "engines.process", "engines.filter_policy"),
        *("engines.sqlite", "engines.store", "extension", "targets", "wiring"),
    },
}


def parts_of(name: str) -> list[str]:
    """Of the full name of a module of ours, or of what it holds, below the package; none if it is not ours."""
    return name.split(".")[1:] if name.startswith("delayer.") else []


def room_of(name: str) -> str | None:
    """The room of a module, or of what it holds, by its full name; None for what is not ours."""
    return next(iter(parts_of(name)), None)


def layer_of(name: str) -> str:
    """The layer of a module of ours, or of what it holds: by the name of its file or folder within its room."""
    room, inside, *_ = [*parts_of(name), ""]
    if room in PURE or f"{room}.{inside}" in RULES:
        return "rules"
    if room == "http":
        return "routes"
    if room == "engines":
        return "ports" if inside == "ports" else f"engines.{inside}"
    if room in WHOLE:
        return room
    return inside if inside in LAYERS else "use_cases"
