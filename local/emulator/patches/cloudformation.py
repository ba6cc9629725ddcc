"""CloudFormation: what ministack does not understand in a template, and AWS does."""

import functools
from collections.abc import Callable
from typing import Any

Parameters = dict[str, dict[str, Any]]  # name -> {Value, …}


def resolve_pseudo_parameters(modules: list[Any], responses: Any) -> None:
    """Give conditions the account and the region. `modules` are those of ministack that evaluate conditions.

    A condition may compare with a pseudo parameter, as in `!Equals [!Ref Account, !Ref AWS::AccountId]`. ministack
    takes the name `AWS::AccountId` for the value, so that such a condition is never true.
    """
    evaluate = modules[0]._evaluate_conditions

    @functools.wraps(evaluate)
    def evaluated(template: dict[str, Any], parameters: Parameters) -> dict[str, bool]:
        pseudo = {
            "AWS::AccountId": {"Value": responses.get_account_id()},
            "AWS::Region": {"Value": responses.get_region()},
            "AWS::Partition": {"Value": "aws"},
        }
        conditions: dict[str, bool] = evaluate(template, {**pseudo, **parameters})
        return conditions

    for module in modules:
        module._evaluate_conditions = evaluated


def name_stack(handlers: Any, unique: str) -> None:
    """Give the first stack that is created this unique part of its id. On AWS, too, a stack keeps its id.

    Names of queues have a part of it. A stack that is created again over its kept data has to find them there.
    """
    new: Callable[[], str] = handlers.new_uuid
    once = iter([unique])
    handlers.new_uuid = lambda: next(once, None) or new()
