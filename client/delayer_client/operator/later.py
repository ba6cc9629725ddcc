"""Imports what needs boto3 when it is used: an engine on one machine is operated without it."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def later(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Makes the `__getattr__` of a package (PEP 562). `modules` say in which of its modules each name is.

    To import such a name raises ModuleNotFoundError if a package is missing.
    """

    def find(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{modules[name]}"), name)

    return find
