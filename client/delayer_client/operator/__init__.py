"""Operators use these, for the command line and the console: with AWS credentials, and then the extra `aws`.

It needs no routes of the API: it invokes the operator functions of the stack, and reads AWS. Nothing is asked before it
is needed, so who may only invoke one operator function can use that one.

    stack = OperatorStack.find("http://localhost:8080")            # .local/8080/aws.env, found by itself
    stack = OperatorStack.find("https://abc.execute-api.eu-west-1.amazonaws.com", stack="delayer", profile="")

    stack = OperatorEngine(Path("delayer-data"))                   # of `delayer serve`: without AWS, and without boto3

    for letter in stack.dead_letters.list("failed/"): …            # DeadLetter(key, schedule_id, reason, source, at)
    stack.dead_letters.page("failed/", after="")                   # Page(letters, after): 100 at a time
    stack.dead_letters.show(key) · .redrive(key, by="") · .discard(key, by="")       # dicts, in the function's words
    stack.dead_letters.count("redrive", Where(reason="HTTP 503"))  # BulkResult of a dry run; .reasons, .refused
    Where(everything=True)                                         # all that is stored; Where() is a ValueError
    stack.dead_letters.many("redrive", where, dry_run=False, per_second=0, by="", after="").steps() or (on_progress)
    stack.dead_letters.redrive_many(where, by="", on_progress=None) · .discard_many(…)      # BulkResult, or Unfinished
    grouped(letters)                                               # [Reason(text, number, sample)]

    stack.owner_policies.get(owner="") · .all() · .list() · .set(policy, owner, revision=0) · .remove(owner, …)
    stack.owner_policies.try_out(body_of_a_post, owner, policy=None)                 # {"allowed": …, "rule": …}

    stack.flow.list() · .suspend(owner="", target="", reason=…, by="") · .release(…) · .close(…)
    stack.flow.limit(owner="", target="", connection="", rate="", concurrency="", by="") · .unlimit(…) · .discard(block)

    OperatorEngine(…).status()                                     # a dict: waiting, late, underWay, deadLetters, …

In its rooms, which are imported when they are used:

    from delayer_client.operator.doctor import Doctor, Finding, Severity, as_dicts, worst
    doctor = Doctor.find(api_url, stack="delayer", token="", owner="", profile="")   # without AWS credentials, too
    findings = doctor.examine(on_progress=None)   # [Finding]; on_progress(area) as each of Doctor.areas begins

    from delayer_client.operator.verify import Options, Verification, PARTS
    done = Verification(Options(url=…, token="", stack="delayer", parts=PARTS), step=…, say=…, profile="").run()
    done.findings · .lateness · .schedules · .cents · .conclusion · .exit_status; .as_dict() for --json
    # step(title) makes a context manager around what takes long; say(line) gets lines beside it

Errors are of the class OperatorError, and their texts say what to do: NoCredentials, NotAllowed (with .permission),
NoStack, Refused (the function's own words), Interrupted (to repeat does no harm), Unfinished (with .result); of an
engine NoEngine, NotYours.
"""

from typing import TYPE_CHECKING

from delayer_client.operator.bulk import Bulk, BulkResult, Reason, Unfinished, Where
from delayer_client.operator.dead_letters import DeadLetter, DeadLetters, Page, grouped
from delayer_client.operator.engine import OperatorEngine
from delayer_client.operator.errors import (
    Interrupted,
    NoCredentials,
    NoEngine,
    NoStack,
    NotAllowed,
    NotYours,
    OperatorError,
    Refused,
)
from delayer_client.operator.flow import Flow
from delayer_client.operator.later import later
from delayer_client.operator.owner_policies import OwnerPolicies

if TYPE_CHECKING:
    from delayer_client.operator.credentials import Aws, find_credentials
    from delayer_client.operator.stack import OperatorStack, Resource
else:
    IN_MODULES = {
        "Aws": "credentials",
        "find_credentials": "credentials",
        "OperatorStack": "stack",
        "Resource": "stack",
    }
    __getattr__ = later(__name__, IN_MODULES)

__all__ = [
    "Aws",
    "Bulk",
    "BulkResult",
    "DeadLetter",
    "DeadLetters",
    "Flow",
    "Interrupted",
    "NoCredentials",
    "NoEngine",
    "NoStack",
    "NotAllowed",
    "NotYours",
    "OperatorEngine",
    "OperatorError",
    "OperatorStack",
    "OwnerPolicies",
    "Page",
    "Reason",
    "Refused",
    "Resource",
    "Unfinished",
    "Where",
    "find_credentials",
    "grouped",
]
