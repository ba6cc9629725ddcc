"""Those who may touch some lists of the registry only: their adapters touch no others."""

from collections.abc import Callable, Iterator
from typing import Any

from delayer.connections.model import Connection, ConnectionType, SecretNote, doomed
from delayer.connections.repository import StoredConnections, StoredTokens
from delayer.connections.rules import TokenRow
from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.owners.repository import StoredRateLimit
from tests.contract.recorder import ACTIONS, WRITES
from tests.functions.cold_start import cold_start
from tests.running.of_each import of_each
from tests.samples import NOW, OWNER
from tests.template.test_policies import LISTS_OF_REGISTRY

CRM = Connection(owner=OWNER, name="crm", type=ConnectionType.BEARER, secret="s1", header="Authorization")
NOTE = SecretNote(owner=OWNER, secret="s1", since=NOW)
TOKEN = TokenRow(owner=OWNER, name="crm", secret="s1", fetched_at=NOW)
METHODS: dict[tuple[str, str], Callable[[Any], object]] = {
    ("StoredConnections", "read"): lambda it: it.read(OWNER, "crm"),
    ("StoredConnections", "listed"): lambda it: it.listed(OWNER, "", 5),
    ("StoredConnections", "uses"): lambda it: it.uses(OWNER, "crm", "", 5),
    ("StoredConnections", "write"): lambda it: it.write(CRM, None, NOTE, doomed(CRM, NOW)),
    ("StoredConnections", "remove"): lambda it: it.remove(CRM, doomed(CRM, NOW)),
    ("StoredConnections", "note"): lambda it: it.note(NOTE),
    ("StoredConnections", "notes"): lambda it: it.notes(NOW, 5),
    ("StoredConnections", "doom"): lambda it: it.doom(NOTE),
    ("StoredConnections", "forget"): lambda it: it.forget(NOTE),
    ("StoredTokens", "read"): lambda it: it.read(OWNER, "crm"),
    ("StoredTokens", "write"): lambda it: it.write(TOKEN, None),
    ("StoredRateLimit", "spend"): lambda it: it.spend(OWNER, "2026-11-21T09:00Z", 1, NOW),
}
MAKES: dict[str, Callable[[Any], Any]] = {
    "StoredConnections": lambda client: StoredConnections(store=DynamoStore(client), table="t"),
    "StoredTokens": lambda client: StoredTokens(store=DynamoStore(client), table="t"),
    "StoredRateLimit": lambda client: StoredRateLimit(store=DynamoStore(client), table="t"),
}


class Noting:
    """A client of DynamoDB that finds nothing, and does all that it is told."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def __getattr__(self, operation: str) -> Callable[..., dict[str, Any]]:
        def call(**arguments: Any) -> dict[str, Any]:
            self.calls.append((operation, arguments))
            return {"Items": []}

        return call


def list_of(write: dict[str, Any]) -> str:
    return str((write.get("Key") or write["Item"])["list"]["S"])


def lists_in(calls: list[tuple[str, dict[str, Any]]]) -> Iterator[tuple[str, str]]:
    """Each IAM action, with the list that it is about."""
    for operation, arguments in calls:
        if operation == "transact_write_items":
            for item in arguments["TransactItems"]:
                [(kind, write)] = item.items()
                yield WRITES[kind], list_of(write)
        elif operation == "query":
            partition, *_ = arguments["ExpressionAttributeValues"].values()
            yield ACTIONS[operation], partition["S"]
        else:
            yield ACTIONS[operation], list_of(arguments)


@of_each(sorted(set(LISTS_OF_REGISTRY) - {"executor-http-request"}))
def test_the_lists_of_a_role_are_those_that_its_function_touches(function: str) -> None:
    """The executor makes its connections at the first attempt that names one; it needs what the test call needs."""
    touched: dict[str, set[str]] = {}
    for port in cold_start(function).ports:
        for method in port.methods if port.held in MAKES else ():
            client = Noting()
            METHODS[port.held, method](MAKES[port.held](client))
            for action, entries in lists_in(client.calls):
                name, hash_sign, _ = entries.partition("#")
                touched.setdefault(action, set()).add(f"{name}#*" if hash_sign else name)
    assert touched == LISTS_OF_REGISTRY[function]
