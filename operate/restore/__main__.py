"""`python -m operate.restore`: with the caller's own AWS credentials."""

import signal
import sys
from functools import cache
from typing import Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from delayer.engines.ports import Unavailable
from delayer_client.transport.proxies import aws_client
from local.command.interrupts import interrupt
from operate.restore.copying import WrongTable
from operate.restore.options import parse
from operate.restore.pausing import NotPaused
from operate.restore.run import Restore

FAULTS = (WrongTable, NotPaused, Unavailable, BotoCoreError, ClientError)


@cache
def client(service: str) -> Any:
    """A client, made once."""
    config = Config(retries={"mode": "standard", "total_max_attempts": 10}, max_pool_connections=50)
    return aws_client(service, config=config)


def main() -> int:
    """0 if everything was copied, otherwise 1."""
    signal.signal(signal.SIGTERM, interrupt)
    try:
        restore = Restore(options=parse(), client=client)
        restore.run()
    except (*FAULTS, KeyboardInterrupt) as error:
        print(f"{error or 'Stopped.'}", file=sys.stderr)
        print("What was paused stays so: repeat the command, or give --resume.", file=sys.stderr)
        return 1
    restore.show()
    return 0


if __name__ == "__main__":
    sys.exit(main())
