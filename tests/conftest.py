"""The same examples on every run and every machine: a red test can be repeated, a green one stays green.

Each run ends with its slowest tests.

End-to-end tests wait most of the time, and the others compute. So their modules are spread evenly among those of the
others: while one process of the run waits, the other works.
"""

from itertools import groupby

import pytest
from hypothesis import HealthCheck, settings

from tests.running.slow import pytest_runtest_setup, pytest_terminal_summary

__all__ = ["pytest_runtest_setup", "pytest_terminal_summary"]

settings.register_profile(
    "delayer",
    derandomize=True,
    deadline=None,
    max_examples=80,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],  # the machine's speed decides nothing
)
settings.load_profile("delayer")

END_TO_END = "tests/e2e/"
# These wait for what takes minutes from the start of the stack on.
LAST = ("tests/e2e/series/test_steering.py", "tests/e2e/test_sweeping.py")
# It checks types with what `make lint`, which runs beside the tests, knows of them by then.
LATER = "tests/docs/extension/test_tutorial.py"

Module = list[pytest.Item]


def module_of(item: pytest.Item) -> str:
    """The file. Of one that is handed out by class (xdist's `loadscope`), the classes stay together, too."""
    return item.nodeid.partition("::")[0]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Modules stay in one piece and keep their order, but for those that are last."""
    modules = {name: list(group) for name, group in groupby(sorted(items, key=module_of), module_of)}
    first_seen = dict.fromkeys(module_of(item) for item in items)
    waiting = sorted((name for name in first_seen if name.startswith(END_TO_END)), key=position_of)
    others = [name for name in first_seen if not name.startswith(END_TO_END) and name != LATER]
    if LATER in first_seen:
        others.insert(len(others) // 2, LATER)
    items[:] = [item for name in spread(waiting, others) for item in modules[name]]


def position_of(name: str) -> int:
    """Among the end-to-end modules."""
    return LAST.index(name) if name in LAST else -1


def spread(some: list[str], others: list[str]) -> list[str]:
    """Both in their order, with as many of the others before each of some."""
    places = {name: (number + 1) / (len(some) + 1) for number, name in enumerate(some)}
    places |= {name: number / max(len(others), 1) for number, name in enumerate(others)}
    return sorted(places, key=lambda name: places[name])
