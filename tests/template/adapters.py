"""What each function asks of AWS, read from the code: its use cases, the ports they call, the adapters behind them."""

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from delayer.aws import api_wiring, creating, wiring
from delayer.aws.control import DynamoControl
from delayer.aws.headcount import DynamoHeadcount
from delayer.aws.http import requests
from delayer.aws.jobs import DynamoJobs
from delayer.aws.journal import DynamoJournal
from delayer.aws.ledger import DynamoLedger
from delayer.aws.queue import SqsQueue
from delayer.aws.rates import DynamoRates
from delayer.aws.registry import DynamoRegistry
from delayer.aws.schedule_table import DynamoScheduleTable
from delayer.aws.set_aside_store import S3SetAsideStore
from delayer.aws.topic import SnsTopic
from delayer.use_cases.accept import Accept
from delayer.use_cases.announce import Announce
from delayer.use_cases.cancel import Cancel
from delayer.use_cases.cancel_group import BeginCancelGroup, CancelGroup, LookAtJob
from delayer.use_cases.drain import Drain
from delayer.use_cases.enqueue import Enqueue
from delayer.use_cases.execute import Execute
from delayer.use_cases.issue import Ids
from delayer.use_cases.list_schedules import ListSchedules
from delayer.use_cases.look import Look
from delayer.use_cases.operate import Operate
from delayer.use_cases.quota import Quota
from delayer.use_cases.relay import Relay
from delayer.use_cases.replace import Replace
from delayer.use_cases.set_aside import SetAside
from delayer.use_cases.stop import Stop
from delayer.use_cases.sweep import Tick
from delayer.use_cases.sweep_bucket import SweepBuckets
from delayer.use_cases.write_journal import WriteJournal
from tests.cfn import ROOT

USE_CASES: dict[str, tuple[type, ...]] = {
    "api-schedule-post": (Accept,),
    "api-schedule-get": (Look,),
    "api-schedule-delete": (Cancel,),
    "api-schedule-put": (Replace,),
    "api-schedule-patch": (Replace,),
    "api-schedule-stop": (Stop,),
    "api-schedule-list": (ListSchedules,),
    "api-batch-post": (Accept,),
    "api-group-delete": (BeginCancelGroup,),
    "api-job-get": (LookAtJob,),
    "api-default": (),
    "job-group-canceller": (CancelGroup, Cancel),
    "stream-enqueuer": (Enqueue, SetAside),
    "stream-lifecycle": (Announce,),
    "lifecycle-journal": (WriteJournal,),
    "task-1minute-enqueuer": (Tick,),
    "sweep-bucket-enqueuer": (SweepBuckets,),
    "delayer-relay": (Relay, SetAside),
    "executor-http-request": (Execute, SetAside),
    "executor-sqs-send": (Execute, SetAside),
    "dlq-set-aside": (Drain, SetAside),
    "operator-set-aside": (Operate,),
}

ADAPTERS: dict[str, type] = {
    "schedules": DynamoScheduleTable,
    "ledger": DynamoLedger,
    "control": DynamoControl,
    "registry": DynamoRegistry,
    "jobs": DynamoJobs,
    "rates": DynamoRates,
    "journal": DynamoJournal,
    "headcount": DynamoHeadcount,
    "topic": SnsTopic,
    "store": S3SetAsideStore,
    "delayer_queue": SqsQueue,
    "sweep_queue": SqsQueue,
    "queue": SqsQueue,
}

# What one transaction writes to, by the use case that asks for it: only replacing deletes a record.
TRANSACTIONS: dict[type, set[tuple[str, str]]] = {
    Accept: {(port, "dynamodb:PutItem") for port in ("schedules", "ledger", "registry")},
    Replace: {(port, "dynamodb:PutItem") for port in ("schedules", "ledger", "registry")}
    | {("schedules", "dynamodb:DeleteItem")},
    WriteJournal: {("headcount", "dynamodb:PutItem"), ("headcount", "dynamodb:UpdateItem")},
}

SHARED = {"ids": Ids, "quota": Quota}  # what several use cases are made with, and call by these names

ACTIONS = {
    "put_item": "dynamodb:PutItem",
    "get_item": "dynamodb:GetItem",
    "update_item": "dynamodb:UpdateItem",
    "delete_item": "dynamodb:DeleteItem",
    "batch_write_item": "dynamodb:BatchWriteItem",
    "batch_get_item": "dynamodb:BatchGetItem",
    "query": "dynamodb:Query",
    "send_message_batch": "sqs:SendMessage",
    "send_message": "sqs:SendMessage",
    "get_queue_attributes": "sqs:GetQueueAttributes",
    "publish_batch": "sns:Publish",
    "put_object": "s3:PutObject",
    "get_object": "s3:GetObject",
    "delete_object": "s3:DeleteObject",
    "list_objects_v2": "s3:ListBucket",
}


def _tree(thing: object) -> ast.Module:
    return ast.parse(inspect.getsource(inspect.getmodule(thing) or wiring))


def _class(thing: type) -> ast.ClassDef:
    return next(
        node for node in ast.walk(_tree(thing)) if isinstance(node, ast.ClassDef) and node.name == thing.__name__
    )


def _calls(node: ast.AST) -> Iterator[list[str]]:
    """Each call as the path of its function: self.ledger.read() is ["self", "ledger", "read"]."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call):
            yield _path(call.func)


def _path(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Attribute):
        return [*_path(node.value), node.attr]
    return [node.id] if isinstance(node, ast.Name) else ["?"]


@cache
def port_calls(use_case: type) -> frozenset[tuple[str, str]]:
    """(port, method) for each method of a port that a use case calls, or hands to `parallel`."""
    found = _ports_in(_class(use_case))
    for path in _attributes(_class(use_case)):
        if len(path) == 3 and path[0] == "self" and path[1].strip("_") in SHARED:
            found |= _ports_of(SHARED[path[1].strip("_")], path[2])
    return frozenset(found)


def _ports_of(shared: type, method: str) -> set[tuple[str, str]]:
    """Those of what several use cases share: of one method, its helpers included."""
    methods = {node.name: node for node in _class(shared).body if isinstance(node, ast.FunctionDef)}
    found = _ports_in(methods[method])
    for path in _calls(methods[method]):
        if path[0] == "self" and len(path) == 2 and path[1] in methods:
            found |= _ports_of(shared, path[1])
    return found


def _ports_in(tree: ast.AST) -> set[tuple[str, str]]:
    paths = _attributes(tree)
    return {(path[-2], path[-1]) for path in paths if path[0] == "self" and len(path) >= 3 and path[-2] in ADAPTERS}


def _attributes(tree: ast.AST) -> list[list[str]]:
    return [_path(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)]


@cache
def boto_calls(adapter: type, method: str) -> frozenset[str]:
    """The boto3 methods that a method of an adapter calls, those of its helpers included."""
    methods = {node.name: node for node in _class(adapter).body if isinstance(node, ast.FunctionDef)}
    found: set[str] = set()
    for path in _calls(methods[method]):
        if path[-1] == "paginate":
            found |= _strings(methods[method], "get_paginator")
        elif path[-1] == "write_all":
            found.add("batch_write_item")
        elif path[-1] == "read_all" and path[0] != "self":
            found.add("batch_get_item")
        elif path[:2] in (["self", "dynamodb"], ["self", "sqs"], ["self", "s3"], ["self", "sns"]) and path[2:] != [
            "get_paginator"
        ]:
            found.add(path[2])
        elif path[0] == "self" and len(path) == 2 and path[1] in methods:
            found |= boto_calls(adapter, path[1])
    return frozenset(found)


def wanted(function: str) -> set[tuple[str, str]]:
    """(port, IAM action) for all that a function may do."""
    pairs = {pair for use_case in USE_CASES[function] for pair in port_calls(use_case)}
    calls = {(port, call) for port, method in pairs for call in boto_calls(ADAPTERS[port], method)}
    plain = {(port, ACTIONS[call]) for port, call in calls if call != "transact_write_items"}
    asks = any(call == "transact_write_items" for _, call in calls)
    return plain.union(*(TRANSACTIONS[one] for one in USE_CASES[function] if asks))


def control_rows(function: str) -> set[str]:
    """The rows of the control table that a function reads or writes."""
    methods = {node.name: node for node in _class(DynamoControl).body if isinstance(node, ast.FunctionDef)}
    called = {method for use_case in USE_CASES[function] for port, method in port_calls(use_case) if port == "control"}
    called |= {path[1] for name in called for path in _calls(methods[name]) if path[0] == "self" and path[1] in methods}
    return {row for name in called for row in _strings(methods[name], "_read", "_write")}


# ------------------------------------------------------------ settings


def _strings(tree: ast.AST, *names: str) -> set[str]:
    """The constant first arguments of calls to any of these functions."""
    return {
        call.args[0].value
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and ast.unparse(call.func).split(".")[-1] in names
        and call.args
        and isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[0].value, str)
    }


def _wired(name: str) -> set[str]:
    """The settings that a function of the wiring, or of the API's requests, reads; those of what it calls included."""
    functions = {
        node.name: node
        for module in (wiring, api_wiring, creating, requests)
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(node, ast.FunctionDef)
    }
    if name not in functions:
        return set()
    found = _strings(functions[name], "setting", "number", "queue")
    for path in _calls(functions[name]):
        if path[-1] != name and (len(path) == 1 or path[0] in ("wiring", "api_wiring")):
            found |= _wired(path[-1])
    return found


def settings(function: str) -> set[str]:
    """The environment variables that a function reads, but for those of the executor queues."""
    tree = ast.parse((Path(ROOT) / f"functions/{function}/app.py").read_text())
    found = _strings(tree, "setting", "number", "queue")
    for path in _calls(tree):
        if path[0] in ("wiring", "api_wiring", "creating", "requests") or len(path) == 1:
            found |= _wired(path[-1])
    return found


def reads_executor_queues(function: str) -> bool:
    return "executor_queues" in (ROOT / f"functions/{function}/app.py").read_text()
