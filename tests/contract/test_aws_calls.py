"""The table of AWS calls is complete, and the recorder sees what is not in it."""

import importlib
import os
import pkgutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import fields, has
from typing_extensions import get_protocol_members

import delayer
from delayer.accept.ports import ScheduleTransaction
from delayer.accept.repository import StoredRegistry
from delayer.actions.repository import StoredActions
from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.aws.each import Each
from delayer.engines.aws.objects import S3Objects
from delayer.engines.process import InOrder
from delayer.engines.sqlite.database import Database
from delayer.flow.repository import StoredBlocks, StoredLines, StoredSeats
from delayer.ledger.repository import StoredLedger
from delayer.owners.repository import StoredOwnerClaim, StoredOwnerPolicies
from delayer.records.repository import StoredControl, StoredScheduleTable
from delayer.recovery.repository import StoredTrials
from delayer.schedule.table_change import Heartbeat
from delayer.series.repository.upkeep import StoredSeriesProgress
from delayer.signing.repository import StoredSigningRows
from tests.cfn import ROOT
from tests.clients import Wrapped
from tests.contract.aws_calls import CALLS, PORTS, ROWS
from tests.contract.conftest import EVERY_DAY, FOUND, RAN, compare, create_table
from tests.contract.recorder import CLIENTS, Calls
from tests.samples import NOW, a_schedule, an_id

MODULES = [one.name for one in pkgutil.walk_packages(delayer.__path__, "delayer.")]
ENGINE = {DynamoStore, Each, S3Objects}  # what stands below the repositories has no port of a use case


def classes_that_hold(names: set[str], *parts: str) -> set[type]:
    """In the modules whose names have one of these parts; in all if none is named."""
    return {
        one
        for module in MODULES
        if not parts or any(part in f"{module}." for part in parts)
        for one in vars(importlib.import_module(module)).values()
        if isinstance(one, type) and has(one) and {attribute.name for attribute in fields(one)} & names
    }


def test_each_adapter_and_each_repository_has_its_port() -> None:
    """An adapter is a class that holds a client, a repository one that holds a store."""
    adapters = classes_that_hold(set(CLIENTS), ".engines.aws.", ".lambdas.") - ENGINE
    repositories = classes_that_hold({"store", "objects"}, ".repository.")
    assert adapters | repositories == set(PORTS)


def test_no_table_has_a_fake_or_an_adapter_of_its_own() -> None:
    """Persistence is written once (ADR 0170): on the store, whose engines alone know what is below."""
    ports = {
        port for adapter, port in PORTS.items() if adapter in classes_that_hold({"store", "objects"}, ".repository.")
    }
    methods = [set(get_protocol_members(port)) for port in ports]
    others = [
        one
        for module in MODULES
        if module.startswith(("delayer.engines.", "delayer.lambdas."))
        for one in vars(importlib.import_module(module)).values()
        if isinstance(one, type) and has(one) and one.__module__ == module and one not in {*ENGINE, Database}
    ]
    assert [one for one in others if any(all(hasattr(one, name) for name in each) for each in methods)] == []
    assert {one for one in classes_that_hold({"dynamodb"}) if one.__module__.startswith("delayer.")} == ENGINE - {
        S3Objects
    }


def test_each_method_of_a_port_is_declared_and_nothing_else_is() -> None:
    declared = {(adapter.__name__, method) for adapter, port in PORTS.items() for method in get_protocol_members(port)}
    assert set(CALLS) == declared
    holders = (
        StoredActions,
        StoredBlocks,
        StoredControl,
        StoredLines,
        StoredOwnerClaim,
        StoredOwnerPolicies,
        StoredSeats,
        StoredSeriesProgress,
        StoredSigningRows,
        StoredTrials,
    )
    of_control_rows = [get_protocol_members(PORTS[one]) for one in holders]
    assert set(ROWS) == set().union(*of_control_rows)


def test_each_adapter_has_a_contract() -> None:
    """And no module of contracts is without its adapter."""
    texts = {path: path.read_text() for path in sorted((ROOT / "tests/contract").glob("*/test_*.py"))}
    named = {
        path.stem: [one.__name__ for one in PORTS if f"\nADAPTER = {one.__name__}\n" in texts[path]] for path in texts
    }
    assert sorted(name for names in named.values() for name in names) == sorted(one.__name__ for one in PORTS)
    assert all(len(names) == 1 for names in named.values()), named
    assert not [path for path, text in texts.items() if "\nclass Test" in text], "a class may run in another process"


def test_a_call_that_is_not_declared_fails(dynamodb: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    table = StoredScheduleTable(store=DynamoStore(dynamodb), table=create_table(dynamodb, "bucket", "due"))
    monkeypatch.setitem(CALLS, ("StoredScheduleTable", "beat"), {("dynamodb:PutItem", "table")})
    with pytest.raises(AssertionError, match="DeleteItem"):
        table.beat(Heartbeat(sent_at=NOW))
    monkeypatch.delitem(CALLS, ("StoredScheduleTable", "put"))
    with pytest.raises(AssertionError, match="not declared"):
        table.put(a_schedule())


def test_a_row_that_is_not_declared_fails(dynamodb: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ROWS, "id_keys", {"shards"})
    with pytest.raises(AssertionError, match="id-key"):
        StoredControl(store=DynamoStore(dynamodb), table=create_table(dynamodb, "name")).id_keys()


def test_the_calls_of_a_method_are_those_of_the_methods_it_uses(
    dynamodb: Any, aws_calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who may only create needs no permission to delete: `create` uses `replace`, and is recorded as `create`."""
    monkeypatch.setattr(aws_calls, "seen", {})
    registry = StoredRegistry(
        store=DynamoStore(dynamodb),
        schedules_table=create_table(dynamodb, "bucket", "due"),
        relaxed_table="relaxed",
        waiting_table="waiting",
        ledger_table="ledger",
        registry_table="registry",
    )
    assert registry.create(ScheduleTransaction(put=a_schedule()))
    assert aws_calls.seen == {("StoredRegistry", "create"): {("dynamodb:PutItem", "schedules_table")}}


def test_what_was_not_recorded_is_missing(dynamodb: Any, aws_calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also a method that was called and did not come as far as its call."""
    monkeypatch.setattr(aws_calls, "seen", {})
    monkeypatch.setattr(aws_calls, "rows", {})
    client = Wrapped(dynamodb)
    ledger = StoredLedger(store=DynamoStore(client), table=create_table(dynamodb, "scheduleId"), parallel=InOrder())
    ledger.read(an_id())
    ledger.write([])
    assert aws_calls.missing(StoredLedger) == [
        "('StoredLedger', 'read_all'): ('dynamodb:BatchGetItem', 'table')",
        "('StoredLedger', 'read_all'): never called",
        "('StoredLedger', 'write'): ('dynamodb:PutItem', 'table')",
    ]
    assert "id_keys: row id-key" in aws_calls.missing(StoredControl)


# ------------------------------------------------------------ the end of a module

MODULE = "tests/contract/dynamodb/test_rate_limit.py"


@dataclass
class Ending:
    """A module of which the last test has run, as pytest tells a fixture about it."""

    ran: set[str]
    options: dict[str, object] = field(default_factory=dict)
    args: list[str] = field(default_factory=lambda: ["tests"])

    def request(self) -> Any:
        config = SimpleNamespace(
            args=self.args,
            getoption=lambda name, default=None: self.options.get(name, default),
            stash={FOUND: {f"{MODULE}::one", f"{MODULE}::two", "tests/other.py::three"}, RAN: self.ran},
        )
        session = SimpleNamespace(shouldstop=False, shouldfail=False, exitstatus=pytest.ExitCode.OK)
        module = SimpleNamespace(ADAPTER=StoredTrials)
        return SimpleNamespace(config=config, session=session, module=module, node=SimpleNamespace(nodeid=MODULE))


ALL = {f"{MODULE}::one", f"{MODULE}::two"}
EACH_CALL = Calls(
    seen={name: set(calls) for name, calls in CALLS.items() if name[0] == "StoredTrials"},
    rows={method: set(rows) for method, rows in ROWS.items()},
)


def test_a_declared_call_that_is_never_made_is_an_error_at_the_end_of_its_module() -> None:
    compare(Ending(ALL).request(), EACH_CALL)
    with pytest.raises(AssertionError, match=r"never recorded: .*'begin'.*'dynamodb:PutItem', 'table'"):
        compare(
            Ending(ALL).request(), Calls(seen={**EACH_CALL.seen, ("StoredTrials", "begin"): set()}, rows=EACH_CALL.rows)
        )


def test_so_it_is_in_the_selection_of_every_day() -> None:
    """What is thorough is left out then, and asks for nothing else."""
    with pytest.raises(AssertionError, match="never called"):
        compare(Ending(ALL, {"markexpr": EVERY_DAY}).request(), Calls())


def test_a_module_of_which_tests_are_left_out_is_an_error() -> None:
    """Else the calls would not be compared, and nobody would see it."""
    with pytest.raises(AssertionError, match=r"did not run in this process.*::two"):
        compare(Ending({f"{MODULE}::one"}).request(), EACH_CALL)


@pytest.mark.parametrize(
    "options", [{"keyword": "one"}, {"markexpr": "thorough"}, {"deselect": ["x"]}, {"lf": True}], ids=str
)
def test_a_selection_of_tests_is_not_compared(options: dict[str, object]) -> None:
    compare(Ending(set(), options).request(), Calls())


def test_a_test_that_was_asked_for_by_its_name_is_not_compared_with_others() -> None:
    compare(Ending(set(), args=[f"{MODULE}::one"]).request(), Calls())


NEVER_MADE = """
from tests.contract.aws_calls import CALLS

CALLS["StoredRateLimit", "spend"].add(("dynamodb:DeleteItem", "table"))
"""
LEAVES_ONE_OUT = """
def pytest_collection_modifyitems(items):
    del items[-1]
"""


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("plugin", "printed"),
    [
        (NEVER_MADE, "never recorded: [\"('StoredRateLimit', 'spend'): ('dynamodb:DeleteItem', 'table')\"]"),
        (LEAVES_ONE_OUT, "did not run in this process"),
    ],
    ids=["never made", "left out"],
)
def test_such_an_error_makes_the_run_fail(plugin: str, printed: str, tmp_path: Path) -> None:
    """It takes some seconds: a module of contracts is run by pytest in a process of its own, with a plugin."""
    (tmp_path / "added_plugin.py").write_text(plugin)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), str(ROOT / "shared"), str(ROOT)])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "added_plugin", MODULE]
    command += ["-m", EVERY_DAY]  # the other engines would say the same, later
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert printed in done.stdout
