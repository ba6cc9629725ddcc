"""Which messages belong together in a fair queue: the message groups of SQS (ADR 0039)."""

import hashlib
import re
from typing import Final

from delayer.core.schedule.schedule import Schedule

# The host of a URL, or a whole queue URL: all queues of a region have the same host.
TARGET: Final = re.compile(r'"url":\s*"(https?://[^/?#"]+)|"queueUrl":\s*"([^"]+)')


def message_group_of(schedule: Schedule) -> str:
    """One group for each owner and target, 32 characters. An action without a URL is grouped by its owner alone."""
    target = TARGET.search(schedule.definition.action)
    return hashlib.sha256(f"{schedule.owner}\n{target.group() if target else ''}".encode()).hexdigest()[:32]
