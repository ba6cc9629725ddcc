"""Asks what the account allows."""

from datetime import datetime
from typing import Final

from delayer_client.operator.doctor.facts import AccountFacts, Unseen
from delayer_client.operator.doctor.gather.metrics import PERMISSION, Metric, figures
from delayer_client.operator.doctor.gather.seeing import seen
from delayer_client.operator.stack import OperatorStack
from delayer_client.operator.verify.promises.surroundings import NEEDED

QUOTA: Final = "L-B99A9384"  # Lambda, concurrent executions
OPEN: Final = ("PENDING", "CASE_OPENED")
EVERYWHERE: Final = Metric(namespace="AWS/Lambda", name="ConcurrentExecutions", dimensions={}, statistic="Maximum")


def look(stack: OperatorStack, now: datetime) -> AccountFacts:
    """How many functions may run at a time, how many do, and whether a raise was asked for."""
    limits = seen("lambda:GetAccountSettings", lambda: stack.client("lambda").get_account_settings()["AccountLimit"])
    scale = stack.parameters.get("Scale", "small")
    return AccountFacts(
        scale=scale,
        needed=NEEDED.get(scale, NEEDED["small"]),
        allowed=limits if isinstance(limits, Unseen) else int(limits["ConcurrentExecutions"]),
        unreserved=limits if isinstance(limits, Unseen) else int(limits["UnreservedConcurrentExecutions"]),
        peak=seen(PERMISSION, lambda: max(figures(stack, {"all": EVERYWHERE}, now)["all"], default=None)),
        asked_for=seen("servicequotas:ListRequestedServiceQuotaChangeHistoryByQuota", lambda: asked_for(stack)),
    )


def asked_for(stack: OperatorStack) -> float | None:
    """The greatest value that AWS has not decided about yet. On one machine there is nobody to ask."""
    if stack.is_local:
        return None
    quotas = stack.client("service-quotas")
    answer = quotas.list_requested_service_quota_change_history_by_quota(ServiceCode="lambda", QuotaCode=QUOTA)
    return max((one["DesiredValue"] for one in answer["RequestedQuotas"] if one["Status"] in OPEN), default=None)
