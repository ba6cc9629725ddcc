"""How long each function's code takes to import: the part of a cold start that is ours."""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from local.errors import LocalStackError
from local.packaging import read_template
from local.stack import PROJECT

MEASURE = """
import json, sys, time
began = time.perf_counter()
import app
print(json.dumps({"ms": (time.perf_counter() - began) * 1000, "pydantic": "pydantic" in sys.modules}))
"""
SURROUNDINGS = {"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}


@frozen(kw_only=True)
class ImportTime:
    """One function."""

    function: str
    ms: float  # median; the start of the interpreter is not in it
    imports_pydantic: bool


def functions_of(template: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """The environment of each function, by the name of its folder."""
    shared = template.get("Globals", {}).get("Function", {}).get("Environment", {}).get("Variables", {})
    return {
        Path(resource["Properties"]["CodeUri"]).name: environment(
            {**shared, **resource["Properties"].get("Environment", {}).get("Variables", {})},
            template.get("Parameters", {}),
        )
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::Serverless::Function"
    }


def environment(variables: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, str]:
    """The variables with parameters at their defaults, and names in the place of other references."""
    return {name: value_of(value, parameters) for name, value in variables.items()}


def value_of(value: Any, parameters: Mapping[str, Any]) -> str:
    """A plain value; `{"Fn::If": [condition, yes, no]}` is taken as no, as the defaults have it."""
    if not isinstance(value, dict):
        return str(value)
    if "Fn::If" in value:
        return value_of(value["Fn::If"][2], parameters)
    name = str(value.get("Ref", "value"))
    return str(parameters[name].get("Default", "value")) if name in parameters else name


def measure(function: str, variables: Mapping[str, str], runs: int) -> ImportTime:
    """The median of several fresh interpreters; one more before them leaves the byte code on the disk."""
    results = [import_once(function, variables) for _ in range(runs + 1)][1:]
    return ImportTime(
        function=function,
        ms=statistics.median(result["ms"] for result in results),
        imports_pydantic=any(result["pydantic"] for result in results),
    )


def import_once(function: str, variables: Mapping[str, str]) -> dict[str, Any]:
    """One fresh interpreter; LocalStackError if the import fails."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE],
        cwd=PROJECT / "functions" / function,
        env={"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(PROJECT / "shared"), **SURROUNDINGS, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise LocalStackError(f"{function} cannot be imported: {reason}.")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def measure_all(runs: int) -> list[ImportTime]:
    """Every function of the template, by name."""
    functions = functions_of(read_template(PROJECT / "template.yaml"))
    return [measure(name, functions[name], runs) for name in sorted(functions)]
