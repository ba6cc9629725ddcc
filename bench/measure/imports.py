"""How long each function's code takes to import: the part of a cold start that the code decides."""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from local.errors import EmulatorError
from local.project import PROJECT
from operate.deploy.expand import expand
from operate.deploy.reading import read_template
from operate.deploy.settled import everything

MEASURE = """
import json, sys, time
began = time.perf_counter()
import app
print(json.dumps({"ms": (time.perf_counter() - began) * 1000, "pydantic": "pydantic" in sys.modules}))
"""
NO_MAPPINGS: Mapping[str, Any] = {}
BASE_ENVIRONMENT = {
    "PYTHONPATH": str(PROJECT / "shared"),
    "AWS_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_LAMBDA_FUNCTION_NAME": "measured",
}


@frozen(kw_only=True)
class ImportTime:
    """One function."""

    function: str
    ms: float  # median, without the start of the interpreter
    imports_pydantic: bool


def functions_of(template: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """The environment of each function of an expanded template, by the name of its folder."""
    shared = template.get("Globals", {}).get("Function", {}).get("Environment", {}).get("Variables", {})
    return {
        Path(resource["Properties"]["CodeUri"]).name: environment(
            {**shared, **resource["Properties"].get("Environment", {}).get("Variables", {})},
            template.get("Parameters", {}),
            template.get("Mappings", {}),
        )
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::Serverless::Function"
    }


def environment(
    variables: Mapping[str, Any], parameters: Mapping[str, Any], mappings: Mapping[str, Any] = NO_MAPPINGS
) -> dict[str, str]:
    """The variables. A reference to a parameter becomes its default, any other reference the name that it refers to."""
    return {name: value_of(value, parameters, mappings) for name, value in variables.items()}


def value_of(value: Any, parameters: Mapping[str, Any], mappings: Mapping[str, Any] = NO_MAPPINGS) -> str:
    """A plain value. `{"Fn::If": [condition, yes, no]}` becomes `no`, which is right for the default parameters."""
    if not isinstance(value, dict):
        return str(value)
    if "Fn::If" in value:
        return value_of(value["Fn::If"][2], parameters, mappings)
    if "Fn::FindInMap" in value:
        table, row, column = (value_of(part, parameters, mappings) for part in value["Fn::FindInMap"][:3])
        return str(mappings.get(table, {}).get(row, {}).get(column, "value"))
    name = str(value.get("Ref", "value"))
    return str(parameters[name].get("Default", "value")) if name in parameters else name


def measure(function: str, variables: Mapping[str, str], runs: int) -> ImportTime:
    """The median of several fresh interpreters. One more runs before them, so that the byte code is on the disk."""
    results = [import_once(function, variables) for _ in range(runs + 1)][1:]
    return ImportTime(
        function=function,
        ms=statistics.median(result["ms"] for result in results),
        imports_pydantic=any(result["pydantic"] for result in results),
    )


def import_once(function: str, variables: Mapping[str, str]) -> dict[str, Any]:
    """One import in a fresh interpreter; EmulatorError if it fails."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE],
        cwd=PROJECT / "functions" / function,
        env={**BASE_ENVIRONMENT, "PATH": os.environ.get("PATH", ""), **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        raise EmulatorError(f"{function} cannot be imported: {reason}.")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def measure_all(runs: int) -> list[ImportTime]:
    """Every function of the template, by name."""
    written = read_template(PROJECT / "template.yaml")
    functions = functions_of(expand(written, everything(written)))
    return [measure(name, functions[name], runs) for name in sorted(functions)]
