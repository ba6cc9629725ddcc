"""Which tests belong to which feature: `make test-fast FEATURE=series`, and the map of the page on contributing.

A test file belongs to each feature whose pattern fits its path.
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from attrs import frozen

ROOT: Final = Path(__file__).parents[2]
WITHOUT_STACK: Final = "tests/e2e/"  # these need a process, or the stack: `make test` runs them


@frozen
class Feature:
    """What it is, in the words of the page, and the paths of its tests."""

    what: str
    pattern: str


# Each alternative begins a folder's or a file's name, or a word in it.
FEATURES: Final = {
    "accept": Feature(
        "POST, PUT, PATCH and batches of schedules; ids, quotas, idempotency keys",
        r"accept|unit/schedule|records|quota|registry|store/|sqlite|rate_limit|once|compare_and_set",
    ),
    "cancel": Feature(
        "cancel, stop, replace, groups and their jobs; the ledger",
        r"cancel|stop|replace|end_group|jobs?|ledger|races",
    ),
    "firing": Feature(
        "from the table to the target: enqueuers, sweep, relay, executor, retries, the relaxed lane",
        r"firing|schedule_table|enqueue|sweep|relay|execut|retr|lanes|relaxed|messaging|batches|lambdas|live_count"
        r"|control|canary|tests/faults|burst",
    ),
    "recovery": Feature(
        "dead letters, redrive, suspects, restore; what happens after an outage",
        r"recovery|dead_letter|redrive|trials?|guard|restore|misfire|bring_back|failures|tests/faults",
    ),
    "actions": Feature(
        "targets, action types, adding one; deadlines of attempts",
        r"actions?|targets?|extension|functions|scaffold|deadlines",
    ),
    "series": Feature("rules of recurrence, occurrences, steering, upkeep", r"series|recurrence|occurrences"),
    "timing": Feature("schedules whose time a policy decides", r"timing|policies|waiting_table"),
    "flow": Feature(
        "suspensions, circuits, limits and their seats",
        r"(?<!how_)flow/|limits?|seats|circuit|waits|(?<!unit/test_)waiting(?!_table)",
    ),
    "connections": Feature(
        "connections, signatures, keys, masking", r"connections?|connecting|sign|masking|secrets?|tokens?|keys"
    ),
    "owners": Feature("owner policies, owner claims, who may do what", r"owners?|access|authorization|permissions"),
    "history": Feature("lifecycle events, journal, lists, subscribers", r"history|journal|lifecycle|subscriber|events"),
    "client": Feature(
        "the Python client, the test kit, the contract of the API",
        r"client/(?!cli|console|doctor|operator|eventbridge)"
        r"|python_client|fakes?/|contract/test|test_contract",
    ),
    "command-line": Feature(
        "`delayer` and the commands of operators", r"client/(cli|operator|doctor|eventbridge)|operate"
    ),
    "console": Feature("the pages at /console", r"console"),
    "local": Feature("the stack on one machine, and the benchmarks", r"local|bench|emulator|stacks"),
    "serve": Feature("the durable engine on one machine", r"serve/|tests/machine|unit/engines/test_sqlite|outages"),
    "template": Feature(
        "template.yaml, wiring, golden files",
        r"template|wiring|frozen|on_aws|deployment|aws_calls|engines/(aws|test_process|test_workers)",
    ),
    "http": Feature("requests and answers of the API, problems, hostile calls", r"http|problems"),
    "docs": Feature("pages, decisions, glossary", r"docs"),
    "tree": Feature("rules of the tree: imports, names, what it weighs", r"tests/unit/(test|patterns)|running|weight"),
    "proofs": Feature("the simulation, power cuts, and the record of all proofs", r"simulation|crashes|proofs"),
    "model": Feature("the model, and the deliberate defects", r"tests/model|defects"),
}


def all_files() -> list[str]:
    """All of them, as pytest names them."""
    return sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py"))


def files_of(name: str, files: Iterable[str]) -> list[str]:
    """Those of a feature."""
    return [file for file in files if re.search(rf"(?:^|[/_])(?:{FEATURES[name].pattern})", file)]


def folders_of(name: str) -> list[str]:
    """The folders below `tests/` that hold its files; one that lies in another of them is not named again."""
    folders = sorted({str(Path(file).parent.relative_to("tests")) for file in files_of(name, all_files())})
    return [one for one in folders if not any(one.startswith(f"{other}/") for other in folders)]


def table() -> str:
    """The map from a feature to its tests, as the page shows it."""
    rows = ["| `FEATURE=` | what it is | its tests are in |", "|---|---|---|"]
    for name, feature in FEATURES.items():
        rows.append(f"| `{name}` | {feature.what} | {', '.join(f'`tests/{one}`' for one in folders_of(name))} |")
    return "\n".join(rows)


def main(name: str) -> int:
    """Prints the files of a feature that need no stack; without a name, `tests` and what leaves the stack out."""
    if name == "--table":
        print(table())
        return 0
    if not name:
        print("tests --ignore tests/e2e")
        return 0
    if name not in FEATURES:
        print(f"There is no feature {name!r}. FEATURE is one of: {', '.join(FEATURES)}.", file=sys.stderr)
        return 2
    print(" ".join(file for file in files_of(name, all_files()) if not file.startswith(WITHOUT_STACK)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
