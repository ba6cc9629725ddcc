"""openapi.yaml as data, parsed once in a run: it is long, and many tests compare with it. Nobody changes it."""

from functools import cache
from typing import Any

import yaml

from tests.cfn import ROOT


@cache
def contract() -> dict[str, Any]:
    """The whole document."""
    parsed: dict[str, Any] = yaml.load((ROOT / "openapi.yaml").read_text(), Loader=yaml.CSafeLoader)
    return parsed
