"""A function that answers at once."""

from collections.abc import Callable, Mapping
from typing import Any

from attrs import Factory, define

from delayer.ports.function import NotInvoked


@define
class MemoryFunction:
    """Port Function. `answer` takes a question and returns the answer; without it there is no such function."""

    answer: Callable[[Mapping[str, Any]], object] | None = None
    asked: list[Mapping[str, Any]] = Factory(list)

    def ask(self, question: Mapping[str, Any]) -> object:
        self.asked.append(question)
        if self.answer is None:
            raise NotInvoked("the function does not exist")
        return self.answer(question)
