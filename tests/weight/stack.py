"""What a template weighs: its lines, and the resources of a stack, as CloudFormation counts them."""

from pathlib import Path
from typing import Any

from ministack.core.responses import request_scope
from ministack.services.cloudformation import engine

from operate.deploy.settled import everything
from tests.cfn import expanded_from, transformed, written
from tests.template.added import is_added


def lines(root: Path) -> int:
    """As it is written."""
    return len((root / "template.yaml").read_text(encoding="utf-8").splitlines())


def all_resources(root: Path) -> int:
    """With all actions, and with those whose condition is false: CloudFormation counts them, too, up to 500."""
    template = written(root / "template.yaml")
    return len(_made(template, everything(template))["Resources"])


def default_resources(root: Path) -> int:
    """Those that are created where no parameter is given, as their conditions decide."""
    made = _made(written(root / "template.yaml"), {})
    with request_scope("123456789012", "eu-west-1"):
        conditions = engine._evaluate_conditions(made, engine._resolve_parameters(made, []))
    return sum(conditions.get(one.get("Condition", ""), True) for one in made["Resources"].values())


def added(root: Path) -> int:
    """How many functions a team has added."""
    return sum(is_added(path.parent.name) for path in root.glob("functions/*/app.py"))


def _made(template: dict[str, Any], parameters: dict[str, str]) -> dict[str, Any]:
    return transformed(expanded_from(template, parameters))
