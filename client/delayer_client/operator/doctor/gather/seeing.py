"""If something cannot be looked at, that is a fact, too."""

from collections.abc import Callable
from typing import TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from delayer_client.operator.calls import asking
from delayer_client.operator.doctor.facts import Seen, Unseen
from delayer_client.operator.errors import NotAllowed, OperatorError

T = TypeVar("T")


def seen(permission: str, look: Callable[[], T]) -> Seen[T]:
    """Returns the result of `look`, or why it could not be had: `permission` is the one that it needs beside reading
    the stack.
    """
    try:
        with asking(permission):
            return look()
    except NotAllowed as error:
        return Unseen(why=str(error), permission=error.permission)
    except (OperatorError, ClientError, BotoCoreError) as error:
        return Unseen(why=str(error))
    except Exception as error:  # noqa: BLE001 - a stack of another version has other outputs and answers
        return Unseen(why=f"what was answered is not as expected ({error!r:.200}); is the stack of another version?")
