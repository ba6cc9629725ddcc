"""The rules of series in the dialect of EventBridge, of which earlier releases took more."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Any, Final

from delayer_client.operator.doctor.facts import RuleFacts, StoredRule
from delayer_client.operator.stack import OperatorStack

PERMISSION: Final = "dynamodb:Scan on the registry table"
PAGES: Final = 100  # of 1 MB, so 12,800 read units at most
DEFINITIONS: Final = {
    "FilterExpression": "#entry = :definition and contains(#repeat, :dialect) and attribute_not_exists(#expires)",
    "ProjectionExpression": "#list, #repeat",
    "ExpressionAttributeNames": {"#list": "list", "#entry": "entry", "#repeat": "repeat", "#expires": "expiresAt"},
    "ExpressionAttributeValues": {":definition": {"S": "definition"}, ":dialect": {"S": '"cron":"cron('}},
}


def look(stack: OperatorStack, _: datetime) -> RuleFacts:
    """Those of series that are not over."""
    pages = stack.client("dynamodb").get_paginator("scan")
    answers = list(islice(pages.paginate(TableName=stack.outputs["RegistryTable"], **DEFINITIONS), PAGES))
    return RuleFacts(
        rules=[rule for answer in answers for rule in _rules(answer)], is_whole="LastEvaluatedKey" not in answers[-1]
    )


def _rules(answer: Mapping[str, Any]) -> Iterator[StoredRule]:
    for item in answer["Items"]:
        owner, _, series = item["list"]["S"].removeprefix("series#").rpartition("#")
        yield StoredRule(owner=owner, series=series, cron=json.loads(item["repeat"]["S"])["cron"])
