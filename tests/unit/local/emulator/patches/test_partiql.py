"""A statement is parsed once for its check and its execution, and never for another one."""

from types import SimpleNamespace
from typing import Any

import pytest

from local.emulator.patches.partiql import parse_once

TOKENS, PARSE = "_tokenize", "_parse_partiql"  # ministack's names
INSERT = "INSERT INTO t VALUE {'pk': ?}"


class Parsed:
    """As ministack's two modules: it counts what it does."""

    def __init__(self) -> None:
        self.parsed: list[Any] = []
        self.taken_apart: list[str] = []
        self.grammar = SimpleNamespace(**{TOKENS: self.tokens})
        self.module = SimpleNamespace(**{PARSE: self.parse})
        parse_once(self.module, self.grammar)

    def tokens(self, text: str) -> list[str]:
        self.taken_apart.append(text)
        return text.split()

    def parse(self, statement: str, parameters: Any) -> dict[str, Any]:
        if parameters == "wrong":
            raise ValueError("wrong")
        self.parsed.append(parameters)
        return {"parameters": parameters, "tokens": getattr(self.grammar, TOKENS)(statement)}

    def asked(self, parameters: Any) -> Any:
        return getattr(self.module, PARSE)(INSERT, parameters)


def test_the_check_and_the_execution_share_one() -> None:
    module, parameters = Parsed(), [{"S": "a"}]
    assert module.asked(parameters) is module.asked(parameters)
    assert len(module.parsed) == 1


def test_equal_parameters_of_another_statement_are_parsed_anew() -> None:
    module = Parsed()
    one, other = [{"S": "a"}], [{"S": "a"}]
    assert module.asked(one) is not module.asked(other)
    assert len(module.parsed) == 2


def test_the_third_time_is_another_request() -> None:
    module, parameters = Parsed(), [{"S": "a"}]
    for _ in range(3):
        module.asked(parameters)
    assert len(module.parsed) == 2


def test_one_that_is_wrong_is_wrong_each_time() -> None:
    module = Parsed()
    for _ in range(2):
        with pytest.raises(ValueError, match="wrong"):
            module.asked("wrong")


def test_a_text_is_taken_apart_once() -> None:
    module = Parsed()
    for number in range(3):
        module.asked([{"N": str(number)}])
    assert module.taken_apart == [INSERT]
