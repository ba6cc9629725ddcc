"""A parent imports these: the libraries, the models of AWS's services, and a layer with all its modules.

None of it may read the environment of a function, make a client, or start a thread: all functions share it.
"""

import importlib
import os
import pkgutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

LIBRARIES: Final = (
    "attrs",
    "aws_lambda_powertools.logging",
    "aws_lambda_powertools.metrics",
    "boto3.session",
    "botocore.httpsession",
    "botocore.loaders",
    "botocore.retries.standard",
    "botocore.session",
    "botocore.signers",
    "jmespath",
    "jsonschema",
    "msgspec.json",
    "s3transfer.manager",
    "urllib3.connectionpool",
)
# All that functions use.
SERVICES: Final = ("dynamodb", "sqs", "sns", "s3", "lambda", "sts", "secretsmanager")
SHARED_DATA: Final = ("endpoints", "partitions", "sdk-default-configuration", "_retry")
LEFT_OUT: Final = ("memory", "serve", "sqlite")  # what no function uses
# By which ministack knows that functions invoke each other in a circle: its own processes do the same.
DEPTH_VARIABLE: Final = "_MINISTACK_INVOKE_DEPTH"
DEPTH_HEADER: Final = "X-Ministack-Invoke-Depth"


def is_of_libraries(entry: str) -> bool:
    """Whether a folder of sys.path is one of the interpreter: the project itself is not there for functions."""
    return any(entry.startswith(f"{prefix}{os.sep}") for prefix in (sys.prefix, sys.base_prefix))


def import_libraries() -> None:
    """The libraries, and one loader of botocore's for all sessions, which has the models."""
    for name in LIBRARIES:
        importlib.import_module(name)
    session: Any
    loaders: Any
    session, loaders = importlib.import_module("botocore.session"), importlib.import_module("botocore.loaders")
    make = loaders.create_loader
    shared = make()
    for service in SERVICES:
        for kind in ("service-2", "endpoint-rule-set-1"):
            shared.load_service_model(service, kind)
    for name in SHARED_DATA:
        shared.load_data(name)
    importlib.import_module("botocore.handlers").BUILTIN_HANDLERS.append(("before-call", add_depth))
    session.create_loader = lambda search_path=None: make(search_path) if search_path else shared


def add_depth(params: dict[str, Any], **_others: Any) -> None:
    """To each request of a function that another one has invoked."""
    if depth := os.environ.get(DEPTH_VARIABLE):
        params["headers"].setdefault(DEPTH_HEADER, depth)


def import_layers(folders: list[str]) -> None:
    """Put the layers in front of the libraries, as Lambda does, and import their modules."""
    found = [f"{folder}{os.sep}python" for folder in folders]
    sys.path[:0] = found
    for name in modules_in(found):
        with suppress(Exception, SystemExit):  # a function that needs it finds out, and says so in its own log
            importlib.import_module(name)


def modules_in(folders: list[str]) -> Iterator[str]:
    """The names of all modules of the packages in these folders."""
    for module in pkgutil.walk_packages(folders, onerror=lambda _name: None):
        if not {*LEFT_OUT} & {*module.name.split(".")}:
            yield module.name
