"""The account lets as many functions run at a time as the stack is made for."""

from typing import Final

from delayer_client.operator.verify.account import Account
from delayer_client.operator.verify.results.findings import Finding, broken, held
from delayer_client.operator.verify.session import Session

PROMISE: Final = "concurrency: the account allows what the stack is made for"
NEEDED: Final = {"small": 1_000, "large": 3_000}  # as in Mappings, Scale; compared by a test


def concurrency(session: Session, account: Account) -> Finding:
    """A new account may have as few as ten. Errors: those of botocore."""
    scale = session.setting("Scale", "small")
    needed, allowed = NEEDED[scale], account.concurrent_executions()
    if allowed >= needed:
        return held(PROMISE, f"{allowed:,}, and Scale={scale} needs {needed:,}")
    return broken(
        PROMISE,
        f"{allowed:,}, but Scale={scale} needs {needed:,}; ask AWS for {needed:,}: Service Quotas, AWS Lambda, "
        "Concurrent executions (docs/how-it-works/scale.md)",
    )
