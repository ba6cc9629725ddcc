"""An engine on this machine (`delayer serve`), as its operator finds it: by the socket in its data folder."""

import json
import socket
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from delayer_client.operator.answers import result_of
from delayer_client.operator.bulk import Ask
from delayer_client.operator.errors import Interrupted, NoEngine, NotYours
from delayer_client.operator.operated import Operated

SOCKET: Final = "control.sock"
ELSEWHERE: Final = "control.path"  # the file with the path of the socket, if that of the folder is too long
SECONDS: Final = 60.0  # that one answer may take


class OperatorEngine(Operated):
    """Does what operators do, as OperatorStack. Nothing is asked before it is needed. Errors: OperatorError."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()

    def function(self, name: str) -> Ask:
        """As Operated."""
        return partial(self._carried_out, name)

    def status(self) -> dict[str, Any]:
        """How it is: `waiting`, `late`, `underWay`, `deadLetters`, `lateness`, `freeBytes`, `restricted` and more."""
        return self._result("status", {"command": "status"})

    def _carried_out(self, name: str, event: Mapping[str, Any]) -> dict[str, Any]:
        """Raises Refused, Interrupted, NoEngine, NotYours."""
        return self._result(name, {"function": name, "event": dict(event)})

    def _result(self, name: str, request: Mapping[str, Any]) -> dict[str, Any]:
        content = self._asked(request)
        if isinstance(content, dict) and "failed" in content:
            return result_of(name, True, content["failed"])
        return result_of(name, False, content)

    def _asked(self, request: Mapping[str, Any]) -> Any:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            self._connect(connection)
            try:
                connection.sendall(json.dumps(request).encode() + b"\n")
                with connection.makefile("rb") as answers:
                    line = answers.readline()
                return json.loads(line)
            except OSError as error:
                raise Interrupted(f"the engine on {self.folder} was not heard to the end ({error})") from error
            except ValueError as error:
                raise Interrupted(f"the engine on {self.folder} has ended before it answered") from error

    def _connect(self, connection: socket.socket) -> None:
        """Raises NoEngine, NotYours."""
        connection.settimeout(SECONDS)
        try:
            connection.connect(self._path())
        except PermissionError as error:
            raise NotYours(
                f"The engine on {self.folder} is that of another user. Give the command as the user who runs it."
            ) from error
        except OSError as error:
            raise NoEngine(self._why_not()) from error

    def _path(self) -> str:
        """Of the socket."""
        try:
            return (self.folder / ELSEWHERE).read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            return str(self.folder / SOCKET)

    def _why_not(self) -> str:
        if not self.folder.is_dir():
            return f"There is no folder {self.folder}. Give that of an engine with --data."
        return f"No engine runs on {self.folder}. Start it: delayer serve --data {self.folder}"
