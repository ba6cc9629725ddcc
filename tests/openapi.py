"""openapi.yaml as data. Nobody changes what it returns: to read it takes half a second, so it is read once."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

PLACE = Path(__file__).parents[1] / "openapi.yaml"


@cache
def openapi() -> dict[str, Any]:
    """The contract, as it is written."""
    document: dict[str, Any] = yaml.load(PLACE.read_text(), Loader=yaml.CSafeLoader)
    return document
