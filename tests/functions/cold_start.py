"""What a function imports, reads and wires when it starts, with the environment that the template gives it."""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from tests.cfn import ROOT, expanded, shared_variables, variables
from tests.functions.called import calls

RUNTIME = {"AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}  # Lambda's own
RUNTIME["AWS_LAMBDA_FUNCTION_NAME"] = "one"
KEPT: Final = ROOT / ".pytest_cache/cold-starts"  # what was found, so that another process need not start them again
ALSO_COUNTED: Final = (
    "template.yaml",
    "tests/cfn.py",
    "tests/functions/cold_start.py",
    "tests/functions/lambda_process.py",
    "tests/rooms.py",
)


@frozen(kw_only=True)
class Port:
    """What a use case calls of an object that it holds."""

    use_case: str
    held: str  # the class of the object
    methods: tuple[str, ...]  # by the syntax tree of the code
    resources: dict[str, str]  # the fields of an adapter that name a resource, by its logical name


@frozen(kw_only=True)
class ColdStart:
    """What there is after the import."""

    modules: frozenset[str]
    collects: bool  # Python's garbage, and leaves alone what was imported
    read: frozenset[str]  # environment variables that our own code has read
    services: frozenset[str]  # the names under which it logs
    use_cases: frozenset[str]  # the modules of the use cases that were wired
    outermost: tuple[str, ...]  # the classes of those that no other use case holds
    ports: tuple[Port, ...]


def value_of(setting: Any) -> str:
    """A resource by its logical name, a parameter with all that it can switch on."""
    match setting:
        case {"Ref": str(name)} if name in expanded()["Parameters"]:
            parameter = expanded()["Parameters"][name]
            return str(parameter.get("MaxValue", parameter["Default"]))
        case {"Ref": str(name)}:
            return name
        case {"Fn::GetAtt": str(name)}:
            return name.partition(".")[0]
        case {"Fn::Sub": str(text)}:
            return text
        case {"Fn::Join": [str(between), list(parts)]}:
            return between.join(value_of(part) for part in parts)
        case {"Fn::If": [str(), _, otherwise]}:
            return value_of(otherwise)
    assert isinstance(setting, str), setting
    return setting


@cache
def state_of_code() -> str:
    """A digest of all that a cold start depends on: any change of it makes them start again."""
    digest = hashlib.sha256(sys.version.encode())
    digest.update(repr(sorted((one.name, one.version) for one in distributions())).encode())
    files = [path for folder in ("shared", "functions") for path in (ROOT / folder).rglob("*")]
    for path in sorted([*files, *(ROOT / name for name in ALSO_COUNTED)]):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(ROOT)}\n".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:24]


@cache
def folder_of_state() -> Path:
    """For this state of the code. Those of other states are removed: they serve nobody any more."""
    KEPT.mkdir(parents=True, exist_ok=True)
    for earlier in KEPT.iterdir():
        if earlier.name != state_of_code():
            shutil.rmtree(earlier, ignore_errors=True)
    folder = KEPT / state_of_code()
    folder.mkdir(exist_ok=True)
    return folder


@cache
def cold_start(function: str) -> ColdStart:
    """With the variables of the template and nothing else in the environment: each missing one would end it.

    A start takes most of a second, there are more than fifty, and the tests that ask run in two processes. So each is
    made once for each state of the code, and whoever asks meanwhile waits for it.
    """
    file = folder_of_state() / f"{function}.json"
    with file.open("a+", encoding="utf-8") as kept:
        fcntl.flock(kept, fcntl.LOCK_EX)
        kept.seek(0)
        text = kept.read()
        if not text:
            text = _started(function)
            kept.write(text)
    return _read(text)


def _started(function: str) -> str:
    given = {**shared_variables(), **variables(function)}
    environment = {name: value_of(value) for name, value in given.items()} | RUNTIME
    environment |= {
        "PYTHONPATH": os.pathsep.join([str(ROOT / "shared"), str(ROOT / "functions" / function), str(ROOT)]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    script = str(ROOT / "tests/functions/lambda_process.py")
    done = subprocess.run(
        [sys.executable, "-P", script], env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def _read(text: str) -> ColdStart:
    found = json.loads(text)
    return ColdStart(
        modules=frozenset(found["modules"]),
        collects=found["collects"],
        read=frozenset(found["read"]),
        services=frozenset(found["services"]),
        use_cases=frozenset(found["use_cases"]),
        outermost=tuple(found["outermost"]),
        ports=tuple(_port(**port) for port in found["ports"]),
    )


def _port(use_case: str, field: str, held: str, resources: dict[str, str]) -> Port:
    """`use_case` is its full name."""
    methods = tuple(calls().methods(use_case, field))
    return Port(use_case=use_case.rpartition(".")[2], held=held, methods=methods, resources=resources)
