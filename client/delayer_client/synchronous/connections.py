"""The secrets that actions name."""

from collections.abc import Iterator

from attrs import frozen

from delayer_client.api.models import Connection, ConnectionTest
from delayer_client.calls import owned
from delayer_client.calls.owned import NewConnection
from delayer_client.errors import NoAnswer, NotFound, Refused
from delayer_client.synchronous.sending import Sender


@frozen
class Connections:
    """The connections of the caller. Their secrets are never shown."""

    _sender: Sender

    def put(self, name: str, connection: NewConnection) -> Connection:
        """Creates a connection, or gives it other values."""
        return self._sender.send(owned.put_connection(name, connection))

    def get(self, name: str) -> Connection:
        """All but its secrets, and how much names it. Raises NotFound."""
        return self._sender.send(owned.connection(name))

    def list(self, *, page_size: int | None = None) -> Iterator[Connection]:
        """All, by name."""
        return self._sender.items(lambda cursor: owned.connections(page_size, cursor), lambda page: page.connections)

    def delete(self, name: str, *, force: bool = False) -> None:
        """Deletes it. Raises Conflict while live schedules name it, unless `force`: then those fail. NotFound.

        It is not repeated after a lost answer, but looked for: if there is none of the name, it is deleted.
        """
        try:
            self._sender.send(owned.delete_connection(name, force=force))
        except (NoAnswer, Refused) as error:
            if not (error.may_be_applied and self._is_gone(name)):
                raise

    def _is_gone(self, name: str) -> bool:
        try:
            self.get(name)
        except NotFound:
            return True
        except (NoAnswer, Refused):
            return False
        return False

    def test(self, name: str, url: str) -> ConnectionTest:
        """One GET of the URL with what the connection sets."""
        return self._sender.send(owned.test_connection(name, url))
