"""Checks the surroundings of a stack: what its account allows, what its Region publishes, and what is paid for."""

from typing import Final

from delayer_client.operator.verify.account import Account
from delayer_client.operator.verify.results.findings import Finding, broken, held, unchecked
from delayer_client.operator.verify.session import Session

CONCURRENCY: Final = "concurrency: the account allows what the stack is made for"
EVENTS: Final = "events: the Region publishes them"
POLLERS: Final = "pollers: those that the scale has, and no others, are paid for"
NEEDED: Final = {"small": 1_000, "large": 3_000}  # as in Mappings, Scale; compared by a test
PROVISIONED: Final = {"small": False, "large": True}  # the same
EVENTS_OF_A_SCHEDULE: Final = 4  # that fires at its first attempt: scheduled, enqueued, claimed, executed

# Messages a second to the standard topics of an account, by default; a batch counts its messages.
# Source: https://docs.aws.amazon.com/general/latest/gr/sns.html
PUBLISHES: Final = {
    "us-east-1": 30_000,
    **dict.fromkeys(("us-west-2", "eu-west-1"), 9_000),
    **dict.fromkeys(
        (
            "us-east-2",
            "us-west-1",
            "ap-south-1",
            "ap-northeast-2",
            "ap-southeast-1",
            "ap-southeast-2",
            "ap-northeast-1",
            "eu-central-1",
        ),
        1_500,
    ),
}
PUBLISHES_ELSEWHERE: Final = 300


def concurrency(session: Session, account: Account) -> Finding:
    """A new account may have as few as ten. Errors: those of botocore."""
    scale = session.setting("Scale", "small")
    needed, allowed = NEEDED[scale], account.concurrent_executions()
    if allowed >= needed:
        return held(CONCURRENCY, f"{allowed:,}, and Scale={scale} needs {needed:,}")
    return broken(
        CONCURRENCY,
        f"{allowed:,}, but Scale={scale} needs {needed:,}; ask AWS for {needed:,}: Service Quotas, AWS Lambda, "
        "Concurrent executions (docs/how-it-works/scale.md)",
    )


def events(session: Session, account: Account) -> Finding:
    """How many schedules a second SNS keeps up with. More fire on time all the same; their events come later."""
    if session.setting("Lifecycle", "journal") == "off":
        return held(EVENTS, "the stack has none: Lifecycle=off")
    allowed, region = account.publishes_a_second(), account.region
    whose = "of this account" if allowed else f"by default in {region}"
    allowed = allowed or PUBLISHES.get(region, PUBLISHES_ELSEWHERE)
    return held(
        EVENTS,
        f"{allowed:,} messages a second {whose}: those of {allowed // EVENTS_OF_A_SCHEDULE:,} schedules a second. "
        "What is more fires on time, and is told later (docs/how-it-works/scale.md)",
    )


def pollers(session: Session, account: Account) -> Finding:
    """Provisioned pollers cost $6.66 a month each. After a change to `small` none must be left. Errors: botocore's."""
    scale = session.setting("Scale", "small")
    provisioned = account.provisioned_pollers()
    if provisioned is None:
        return unchecked(POLLERS, "the stack has no mappings that can be read")
    if bool(provisioned) == PROVISIONED[scale]:
        number = sum(provisioned.values())
        return held(POLLERS, f"{number} provisioned, as Scale={scale} has it" if number else f"none, and Scale={scale}")
    if not provisioned:
        return broken(POLLERS, f"Scale={scale}, but no queue has provisioned pollers; deploy the stack again")
    names = ", ".join(sorted(provisioned))
    return broken(
        POLLERS,
        f"Scale={scale}, but {sum(provisioned.values())} are provisioned and paid for, at {names}; take them away: "
        "aws lambda update-event-source-mapping --provisioned-poller-config '{}' --uuid … (docs/operate/verify.md)",
    )
