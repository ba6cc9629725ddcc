"""What a function imports, reads and wires when it starts, with the environment that the template gives it."""

import fcntl
import json
import os
import subprocess
import sys
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from attrs import frozen

from tests.cfn import ROOT, expanded, shared_variables, variables

RUNTIME = {"AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}  # Lambda's own
RUNTIME["AWS_LAMBDA_FUNCTION_NAME"] = "one"
SCRIPT = ROOT / "tests/lambda_process.py"
KEPT = ROOT / ".pytest_cache" / "cold-starts"  # what was found, by all that it depends on


@frozen(kw_only=True)
class Port:
    """What a use case may call of an object that it holds."""

    use_case: str
    held: str  # the class of the object
    methods: tuple[str, ...]
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
def cold_start(function: str) -> ColdStart:
    """With the variables of the template and nothing else in the environment: each missing one would end it."""
    given = {**shared_variables(), **variables(function)}
    environment = {name: value_of(value) for name, value in given.items()} | RUNTIME
    environment |= {
        "PYTHONPATH": os.pathsep.join([str(ROOT / "shared"), str(ROOT / "functions" / function)]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    found = json.loads(started_once(function, environment))
    return ColdStart(
        modules=frozenset(found["modules"]),
        collects=found["collects"],
        read=frozenset(found["read"]),
        services=frozenset(found["services"]),
        use_cases=frozenset(found["use_cases"]),
        outermost=tuple(found["outermost"]),
        ports=tuple(Port(**{**port, "methods": tuple(port["methods"])}) for port in found["ports"]),
    )


def started_once(function: str, environment: dict[str, str]) -> str:
    """What the process says. It takes a second of processor time, and as many tests as processes ask for it."""
    KEPT.mkdir(parents=True, exist_ok=True)
    depends_on = [code_of(ROOT / "shared/delayer"), code_of(ROOT / "functions" / function), code_of(SCRIPT)]
    depends_on += [sys.version, (ROOT / "requirements-dev.txt").read_text(), json.dumps(environment, sort_keys=True)]
    name = sha256("\n".join(depends_on).encode()).hexdigest()
    with (KEPT / f"{function}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # whoever comes second reads what the first has found
        kept = KEPT / f"{function}.json"
        known = json.loads(kept.read_text()) if kept.exists() else {}
        if known.get("of") != name:
            known = {"of": name, "found": started(environment)}
            kept.write_text(json.dumps(known))
    return str(known["found"])


def started(environment: dict[str, str]) -> str:
    """What one process says that has started as Lambda would start it."""
    done = subprocess.run(
        [sys.executable, "-P", str(SCRIPT)], env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


@cache
def code_of(path: Path) -> str:
    """All the code of a file or a folder, and whatever lies beside it, as one hash."""
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    of_all = sha256()
    for file in files:
        if "__pycache__" not in file.parts:
            of_all.update(f"{file.relative_to(ROOT)}\n".encode() + file.read_bytes())
    return of_all.hexdigest()
