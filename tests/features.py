"""Which tests belong to which feature: `make test-fast FEATURE=series`, and the map of the page on contributing.

A test file belongs to each feature whose pattern is found in its path.
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from attrs import frozen

ROOT: Final = Path(__file__).parents[1]
WITHOUT_STACK: Final = "tests/e2e/"  # these need the stack: `make test` runs them


@frozen
class Feature:
    """What it is, in the words of the page, and the paths of its tests."""

    what: str
    pattern: str


FEATURES: Final = {
    "accept": Feature(
        "POST, PUT, PATCH and batches of schedules; ids, quotas, idempotency keys",
        r"accept|/api/|/items/|/schedule/|schemas|admission|quota|registry|rate_limit|issue|addresses|/once|compare_and_set|test_ids",
    ),
    "cancel": Feature(
        "cancel, stop, replace, groups and their jobs; the ledger",
        r"cancel|stop|replace|group|jobs|ledger|transactions|races",
    ),
    "firing": Feature(
        "from the table to the target: enqueuers, sweep, relay, executor, retries, the relaxed lane",
        r"firing|schedule_table|enqueue|sweep|relay|execut|retry|lanes|relaxed|messaging|batches|together|events|/runtime/|table_change"
        r"|live_count|control|canary|deadlines|/faults/",
    ),
    "recovery": Feature(
        "dead letters, redrive, suspects, restore; what happens after an outage",
        r"recover|dead_letter|redrive|trial|guard|restore|misfire|bring_back|failures|burst|/faults/",
    ),
    "actions": Feature(
        "targets, action types, the extension of actions", r"actions|targets|extension|functions|scaffold"
    ),
    "series": Feature("rules of recurrence, occurrences, steering, upkeep", r"series|recurrence|occurrence|cron"),
    "timing": Feature("schedules whose time a policy decides", r"timing|(?<!owner_)polic(y|ies)|waiting"),
    "flow": Feature(
        "suspensions, circuits, limits and their seats", r"flow|limit|seats|lines|circuit|breaker|blocks|waits"
    ),
    "connections": Feature(
        "connections, signatures, keys, masking", r"connection|sign|masking|secret|token|keys|sealing"
    ),
    "owners": Feature("owner policies, owner claims, who may do what", r"owner|access|authoriz|permission"),
    "history": Feature(
        "lifecycle events, journal, lists, subscribers", r"history|journal|lifecycle|subscriber|events|list"
    ),
    "client": Feature(
        "the Python client, the test kit, the contract of the API",
        r"tests/client/(?!cli|console)|python_client|fake|contract/test",
    ),
    "command-line": Feature(
        "`delayer` and the commands of operators", r"tests/client/(cli|operator|doctor|eventbridge)|operate"
    ),
    "console": Feature("the pages at /console", r"console|tests/browser"),
    "local": Feature("the stack on one machine, and the benchmarks", r"local|bench|emulator"),
    "template": Feature(
        "template.yaml, wiring, golden files", r"template|wiring|golden|deployment|aws_calls|cold_start|/start/"
    ),
    "http": Feature(
        "requests and answers of the API, problems, hostile calls", r"/http/|problems|e2e/(contract|test_contract)"
    ),
    "docs": Feature("pages, decisions, glossary", r"tests/docs"),
    "tree": Feature("rules of the tree: imports, names, folders", r"tests/unit/test_|tests/(test_)?(features|slow)"),
    "proofs": Feature("the simulation, the model and their record", r"simulation|tests/model|proofs|defects"),
}


def test_files() -> list[str]:
    """All of them, as pytest names them."""
    return sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py"))


def files_of(name: str, files: Iterable[str]) -> list[str]:
    """Those of a feature."""
    return [file for file in files if re.search(FEATURES[name].pattern, file)]


def table() -> str:
    """The map from a feature to its tests, as the page shows it."""
    files = test_files()
    rows = ["| `FEATURE=` | what it is | test files, those of the stack apart |", "|---|---|---:|"]
    for name, feature in FEATURES.items():
        of_it = files_of(name, files)
        without = [file for file in of_it if not file.startswith(WITHOUT_STACK)]
        rows.append(f"| `{name}` | {feature.what} | {len(without)} + {len(of_it) - len(without)} |")
    return "\n".join(rows)


def main(name: str) -> int:
    """Prints the files of a feature that need no stack; without a name, `tests` and what leaves the stack out."""
    if not name:
        print("tests --ignore tests/e2e")
        return 0
    if name not in FEATURES:
        print(f"There is no feature {name!r}. FEATURE is one of: {', '.join(FEATURES)}.", file=sys.stderr)
        return 2
    print(" ".join(file for file in files_of(name, test_files()) if not file.startswith(WITHOUT_STACK)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
