"""Looks at stored things: dead letters, schedules that wait although they are due, rules of series."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Any, Final

from delayer_client.operator.doctor.facts import RuleFacts, StoredFacts, StoredRule
from delayer_client.operator.stack import OperatorStack

AT_MOST: Final = 1000  # dead letters that are looked at
PREFIXES: Final = ("dead-lettered/", "failed/", "waiting/", "aws/lambda/")
OF_RULES: Final = "dynamodb:Scan on the registry table"
PAGES: Final = 100  # of 1 MB, so 12,800 read units at most
DEFINITIONS: Final = {
    "FilterExpression": "#entry = :definition and contains(#repeat, :dialect) and attribute_not_exists(#expires)",
    "ProjectionExpression": "#list, #repeat",
    "ExpressionAttributeNames": {"#list": "list", "#entry": "entry", "#repeat": "repeat", "#expires": "expiresAt"},
    "ExpressionAttributeValues": {":definition": {"S": "definition"}, ":dialect": {"S": '"cron":"cron('}},
}


def look_at_dead_letters(stack: OperatorStack, _: datetime) -> StoredFacts:
    """How many there are, by the beginning of their keys and by reason."""
    letters = list(islice(stack.dead_letters.list(), AT_MOST + 1))
    reasons: dict[str, Counter[str]] = {prefix: Counter() for prefix in PREFIXES}
    for letter in letters[:AT_MOST]:
        prefix = next((one for one in PREFIXES if letter.key.startswith(one)), PREFIXES[0])
        reasons[prefix][letter.reason] += 1
    return StoredFacts(
        reasons={prefix: dict(counted) for prefix, counted in reasons.items()}, is_whole=len(letters) <= AT_MOST
    )


def look_at_flow(stack: OperatorStack, _: datetime) -> Mapping[str, Any]:
    """As the function answers it."""
    return stack.flow.list()


def look_at_rules(stack: OperatorStack, _: datetime) -> RuleFacts:
    """Reads the rules in EventBridge's dialect of series that are not over: earlier releases accepted more of them."""
    pages = stack.client("dynamodb").get_paginator("scan")
    answers = list(islice(pages.paginate(TableName=stack.outputs["RegistryTable"], **DEFINITIONS), PAGES))
    return RuleFacts(
        rules=[rule for answer in answers for rule in _rules(answer)], is_whole="LastEvaluatedKey" not in answers[-1]
    )


def _rules(answer: Mapping[str, Any]) -> Iterator[StoredRule]:
    for item in answer["Items"]:
        owner, _, series = item["list"]["S"].removeprefix("series#").rpartition("#")
        yield StoredRule(owner=owner, series=series, cron=json.loads(item["repeat"]["S"])["cron"])
