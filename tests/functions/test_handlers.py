"""Each function does what it has put together: nothing that its module makes is left unused."""

import ast

from tests.cfn import ROOT
from tests.running.of_each import of_each

FUNCTIONS = sorted(path.parent.name for path in (ROOT / "functions").glob("*/app.py"))


def made_in(module: ast.Module) -> set[str]:
    """The names of what it makes when it starts."""
    assigned = [one for one in module.body if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call)]
    return {target.id for one in assigned for target in one.targets if isinstance(target, ast.Name)}


@of_each(FUNCTIONS)
def test_a_handler_uses_what_its_module_has_made(function: str) -> None:
    module = ast.parse((ROOT / "functions" / function / "app.py").read_text())
    used = {one.id for one in ast.walk(module) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
    assert made_in(module) - {"handler"} <= used
