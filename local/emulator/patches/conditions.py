"""CloudFormation: a condition may compare with a pseudo parameter, as in `!Equals [!Ref Account, !Ref AWS::AccountId]`.

ministack takes the name `AWS::AccountId` for the value, so that such a condition is never true.
"""

import functools
from typing import Any

Parameters = dict[str, dict[str, Any]]  # name -> {Value, …}


def resolve_pseudo_parameters(modules: list[Any], responses: Any) -> None:
    """Give conditions the account and the region. `modules` are those of ministack that evaluate conditions."""
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
