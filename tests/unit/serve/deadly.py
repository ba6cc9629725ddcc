"""A child process whose target does what the payload says."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from delayer.actions.ports import NotAttempted
from delayer.actions.rules.model import Done, Result
from delayer.schedule.messages import ExecutorMessage
from delayer.serve.suspects import suspect
from delayer.wiring import functions

ports: Any = None


def target(message: ExecutorMessage) -> Result:
    """One attempt."""
    what = json.loads(message.schedule.definition.payload)
    print("this is no answer")
    return DO.get(what, lambda: None)() or Done(f"done: {what}")


def terminated() -> None:
    """A service manager ends it."""
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(60)


def raises(error: Exception) -> None:
    """An error of an action."""
    raise error


def row() -> Result:
    """It asks its parent."""
    handler.ports.observer.warn("a line", "an id", value=1)
    return Done(str(handler.ports.items.get("control", {"id": "1"})))


DO: dict[str, Callable[[], Result | None]] = {
    "crash": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "exit": lambda: os._exit(0),
    "leave": lambda: sys.exit(3),
    "hang": lambda: time.sleep(60),
    "terminated": terminated,
    "raise": lambda: raises(ValueError("a defect")),
    "not now": lambda: raises(NotAttempted("not now")),
    "row": row,
    "refused": lambda: handler.ports.items.write("no such thing"),
}


handler: Any = SimpleNamespace(target=target, ports=None)


def loaded(*_: Any) -> Any:
    """In the place of the functions of Delayer."""
    if sys.argv[1:] == ["broken"]:
        raise ModuleNotFoundError("the function")
    return SimpleNamespace(handler=handler)


if __name__ == "__main__":
    vars(functions)["loaded"] = loaded
    suspect.main()
