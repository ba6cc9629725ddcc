"""Functions that answer at once."""

from collections.abc import Callable, Mapping
from typing import Any

from attrs import Factory, define

from delayer.ports.functions import NoAnswer


@define
class MemoryFunctions:
    """Port Functions. Each function takes a question and returns its answer, or raises."""

    functions: dict[str, Callable[[Mapping[str, Any]], object]] = Factory(dict)  # by name or ARN
    asked: list[tuple[str, Mapping[str, Any]]] = Factory(list)

    def ask(self, function: str, question: Mapping[str, Any]) -> object:
        self.asked.append((function, question))
        if function not in self.functions:
            raise NoAnswer("the function does not exist")
        return self.functions[function](question)
