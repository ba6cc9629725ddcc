"""`python -m local.emulator`: the emulator's process, on 127.0.0.1 only.

`local.stack.process` starts it. Its settings come from the environment, as ministack's own do: GATEWAY_PORT (the AWS
port), AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (the pair of this run, for ministack the one of its root user),
DELAYER_API_PORT, DELAYER_LOG_FOLDER, DELAYER_METERING.
"""

import asyncio
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any, cast

from hypercorn.asyncio import serve
from hypercorn.config import Config

from local.emulator.application import application
from local.errors import EmulatorError
from local.key_pair import KeyPair


def end_with_parent() -> None:
    """End this process and its Lambda workers as soon as the process that started it has ended.

    That process holds the other end of standard input, so the read below returns even if it was killed by SIGKILL.
    """
    sys.stdin.buffer.read()
    os.killpg(0, signal.SIGKILL)


def configuration(aws_port: int, api_port: int) -> Config:
    """The settings of the HTTP server."""
    config = Config()
    config.bind = [f"127.0.0.1:{aws_port}", f"127.0.0.1:{api_port}"]
    config.backlog = 1024
    config.keep_alive_timeout = 75
    config.loglevel = os.environ.get("LOG_LEVEL", "WARNING")
    return config


def pair_given() -> KeyPair:
    """The pair that the starter has made."""
    return KeyPair(access_key_id=os.environ["AWS_ACCESS_KEY_ID"], secret_access_key=os.environ["AWS_SECRET_ACCESS_KEY"])


def main() -> None:
    """Serve until this process is ended."""
    threading.Thread(target=end_with_parent, daemon=True, name="end-with-parent").start()
    aws_port, api_port = int(os.environ["GATEWAY_PORT"]), int(os.environ["DELAYER_API_PORT"])
    config = configuration(aws_port, api_port)
    try:
        log_folder = Path(os.environ["DELAYER_LOG_FOLDER"])
        app = application(aws_port, api_port, log_folder, bool(os.environ.get("DELAYER_METERING")), pair_given())
        # hypercorn's type for an application has a class of its own for each ASGI message.
        asyncio.run(serve(cast(Any, app), config))
    except (EmulatorError, OSError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
