"""Applies every correction. They fit one version of ministack only, and that is checked."""

import importlib
import threading
from importlib.metadata import version

from local.emulator.access.function_sessions import issue_secret_credentials
from local.emulator.interpreter import make_ids_quickly, take_short_turns
from local.emulator.observer import Observer
from local.emulator.patches.cloudformation import import_apis, resolve_pseudo_parameters
from local.emulator.patches.intervals import shorten_waits
from local.emulator.patches.invocations import (
    invoke_as_rules_do,
    keep_few_log_streams,
    observe_invocations,
    pass_source_address,
)
from local.emulator.patches.partiql import parse_once
from local.emulator.patches.permissions import authorize_batches, name_event_buses, parse_policies_once, trust_loopback
from local.emulator.patches.queues.delays import DelayedWakes
from local.emulator.patches.queues.mappings import (
    observe_mappings,
    poll_what_may_have_messages,
    scale_as_lambda,
    take_turns,
)
from local.emulator.patches.queues.receive import QuickReceive
from local.emulator.patches.statements import authorize_statements, note_changes, refuse_mixed_batches
from local.emulator.patches.streams import StreamPoller, match_what_is_absent, name_who_expires
from local.emulator.processes.forking import fork_functions
from local.emulator.processes.parents import Parents
from local.errors import EmulatorError

MINISTACK_VERSION = "1.5.33"
TRANSFORM = "samtranslator.translator.transform"


def install(observer: Observer) -> None:
    """Apply every correction. EmulatorError if another version is installed than the one they were written for."""
    check_version(version("ministack"))
    take_short_turns()
    make_ids_quickly()
    lambda_service = importlib.import_module("ministack.services.lambda_svc")
    sqs = importlib.import_module("ministack.services.sqs")
    dynamodb = importlib.import_module("ministack.services.dynamodb")
    runtime = importlib.import_module("ministack.core.lambda_runtime")
    issue_secret_credentials(lambda_service, runtime, importlib.import_module("ministack.services.sts"))
    provisioners = importlib.import_module("ministack.services.cloudformation.provisioners")
    fork_functions(runtime, lambda_service, provisioners, Parents())
    observe_invocations(lambda_service, observer)
    keep_few_log_streams(lambda_service, importlib.import_module("ministack.services.cloudwatch_logs"))
    responses = importlib.import_module("ministack.core.responses")
    pass_source_address(lambda_service, responses)
    evaluating = ("engine", "changesets", "handlers", "stacks")
    modules = [importlib.import_module(f"ministack.services.cloudformation.{name}") for name in evaluating]
    resolve_pseudo_parameters(modules, responses)
    import_apis(provisioners, importlib.import_module("ministack.services.apigateway"))
    StreamPoller(lambda_service, dynamodb).install()
    name_who_expires(dynamodb)
    match_what_is_absent(lambda_service)
    parse_once(dynamodb, importlib.import_module("ministack.services._dynamodb_keywords"))
    QuickReceive(sqs).install()
    wakes = DelayedWakes(lambda_service, sqs)
    wakes.install()
    take_turns(sqs, importlib.import_module("ministack.services.sns"))
    poll_what_may_have_messages(lambda_service, wakes.index)
    observe_mappings(lambda_service, sqs, observer)
    scale_as_lambda(lambda_service)
    authorize_batches(importlib.import_module("ministack.core.iam_actions"))
    authorize_statements(importlib.import_module("ministack.core.iam_actions"))
    refuse_mixed_batches(dynamodb)
    note_changes(dynamodb)
    name_event_buses(importlib.import_module("ministack.core.iam_actions"))
    evaluator = importlib.import_module("ministack.core.iam_evaluator")
    trust_loopback(evaluator)
    parse_policies_once(evaluator)
    invoke_as_rules_do(lambda_service, importlib.import_module("ministack.services.eventbridge"))
    shorten_waits(lambda_service)
    import_ahead()


def import_ahead() -> None:
    """Import what the creation of a stack needs, while the code that it creates is still being packaged."""
    threading.Thread(target=importlib.import_module, args=(TRANSFORM,), daemon=True, name="import-ahead").start()


def check_version(found: str) -> None:
    """Refuse a version whose internals nobody has read."""
    if found != MINISTACK_VERSION:
        raise EmulatorError(
            f"ministack {found} is installed, but the corrections in local/emulator/patches fit {MINISTACK_VERSION} "
            "only; delete .venv and run make again."
        )
