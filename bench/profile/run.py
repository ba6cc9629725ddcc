"""Runs each function of the firing path in a process of its own, against the tables and queues of a stack."""

import json
import os
import subprocess
import sys
from typing import Any

from attrs import frozen

from bench.load.calls import NewSchedule
from bench.load.clients import Clients
from bench.load.generator import now
from bench.profile.options import Options
from local.command.progress import step
from local.deployment.settings import STACK_NAME
from local.errors import EmulatorError
from local.project import PROJECT
from local.receiver import Receiver
from local.stack.emulated_stack import EmulatedStack

WORKER = PROJECT / "bench/profile/worker.py"
WAITING = 300  # schedules that are stored, and come round again
IN_TWENTY_MINUTES = 20 * 60_000  # not before they are used; and not so far ahead that a delete by hand is suspected
LONGEST = 180  # seconds of one function


@frozen(kw_only=True)
class Case:
    """One function, and what it is given in each invocation."""

    function: str
    what: str  # a kind of bench/profile/events.py
    records: int = 1


CASES = (
    Case(function="api-schedule-post", what="POST"),
    Case(function="api-batch-post", what="POST of a batch", records=100),
    Case(function="stream-enqueuer", what="INSERT, due later", records=100),
    Case(function="stream-enqueuer", what="REMOVE, due soon", records=100),
    Case(function="delayer-relay", what="claims", records=1),
    Case(function="delayer-relay", what="claims", records=10),
    Case(function="executor-http-request", what="attempts", records=1),
    Case(function="executor-http-request", what="attempts", records=10),
)


@frozen(kw_only=True)
class Profile:
    """What one case has used: milliseconds of processor time for one invocation; for the import those of a clock."""

    function: str
    what: str
    records: int
    runs: int
    import_ms: float
    cpu_ms: float
    aws_ms: float  # of it, within boto3
    aws_calls: float
    table: str

    @property
    def own_ms(self) -> float:
        """All that is not within a call of AWS."""
        return self.cpu_ms - self.aws_ms


def measure(options: Options) -> list[Profile]:
    """All cases that the options name, each for itself. EmulatorError if one fails."""
    with Receiver() as receiver, EmulatedStack(0, options.parameters, progress=step) as stack:
        with step(f"POSTing {WAITING} schedules that wait"):
            new = NewSchedule(due=now() + IN_TWENTY_MINUTES, target=receiver.url)
            Clients(stack.port, 4).post_all([new] * WAITING, lambda: None)
            table = stack.outputs["SchedulesTable"]
            items = stack.client("dynamodb").scan(TableName=table)["Items"]
            waiting = [item for item in items if "pointInTime" in item]
        found = []
        for case in (one for one in CASES if not options.functions or one.function in options.functions):
            with step(f"{case.function}: {case.what}, {case.records} at a time"):
                found.append(_measured(stack, case, options, waiting, receiver.url))
        return found


def _measured(stack: EmulatedStack, case: Case, options: Options, items: list[Any], url: str) -> Profile:
    known = stack.client("lambda").get_function_configuration(FunctionName=f"{STACK_NAME}-{case.function}")
    asked = {
        "function": case.function,
        "what": case.what,
        "records": case.records,
        "runs": options.runs,
        "top": options.top,
        "items": items,
        "url": url,
    }
    done = subprocess.run(
        [sys.executable, str(WORKER)],
        cwd=PROJECT / "functions" / case.function,
        env={
            **known["Environment"]["Variables"],
            "PATH": os.environ.get("PATH", ""),
            "PYTHONPATH": os.pathsep.join([str(PROJECT / "functions" / case.function), str(PROJECT / "shared")]),
            "AWS_ENDPOINT_URL": stack.aws_endpoint_url,
            "AWS_REGION": "us-east-1",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_LAMBDA_FUNCTION_NAME": case.function,
            "AWS_ACCESS_KEY_ID": stack.pair.access_key_id,
            "AWS_SECRET_ACCESS_KEY": stack.pair.secret_access_key,
        },
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST,
    )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        logged = [line for line in done.stdout.splitlines() if '"level":"WARNING"' in line][:1]
        raise EmulatorError("\n".join([f"{case.function} cannot be profiled: {reason}", *logged]))
    return Profile(**json.loads(done.stdout.splitlines()[-1]))
