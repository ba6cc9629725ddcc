"""One factory for each use case of connections."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from delayer.ports.tokens import AsksForTokens
    from delayer.use_cases.connections.credentials import Credentials
    from delayer.use_cases.connections.delete import DeleteConnection, FindLive
    from delayer.use_cases.connections.naming import Naming
    from delayer.use_cases.connections.permit_test import PermitTest
    from delayer.use_cases.connections.put import PutConnection
    from delayer.use_cases.connections.read import ReadConnections
    from delayer.use_cases.connections.still_named import StillNamed
    from delayer.use_cases.connections.sweep import SweepSecrets
    from delayer.use_cases.owners.reach import Reach
    from delayer.wiring.bundle import Bundle


def naming(ports: "Bundle") -> "Naming":
    """For calls that create something."""
    from delayer.use_cases.connections.naming import Naming

    return Naming(connections=ports.connections)


def still_named(ports: "Bundle") -> "StillNamed":
    """For calls that nobody waits for."""
    from delayer.use_cases.connections.still_named import StillNamed

    return StillNamed(connections=ports.connections)


def put_connection(ports: "Bundle") -> "PutConnection":
    """PUT."""
    from delayer.use_cases.connections.put import PutConnection

    randomness = ports.randomness
    return PutConnection(
        clock=ports.clock,
        connections=ports.connections,
        secrets=ports.secrets,
        sweep=sweep_secrets(ports),
        reach=reach(ports),
        observer=ports.observer,
        new_id=ports.new_series_id,
        new_key=lambda: randomness(32).hex(),
    )


def delete_connection(ports: "Bundle") -> "DeleteConnection":
    """DELETE."""
    from delayer.use_cases.connections.delete import DeleteConnection

    return DeleteConnection(
        clock=ports.clock,
        connections=ports.connections,
        find=find_live(ports),
        sweep=sweep_secrets(ports),
        observer=ports.observer,
    )


def read_connections(ports: "Bundle") -> "ReadConnections":
    """GET of one, and of all."""
    from delayer.use_cases.connections.read import ReadConnections

    return ReadConnections(connections=ports.connections, find=find_live(ports))


def find_live(ports: "Bundle") -> "FindLive":
    """For whoever asks whether a connection is in use."""
    from delayer.use_cases.connections.delete import FindLive

    return FindLive(clock=ports.clock, connections=ports.connections, ledger=ports.ledger)


def sweep_secrets(ports: "Bundle") -> "SweepSecrets":
    """For calls that write connections."""
    from delayer.use_cases.connections.sweep import SweepSecrets

    return SweepSecrets(
        clock=ports.clock, connections=ports.connections, secrets=ports.secrets, observer=ports.observer
    )


def reach(ports: "Bundle") -> "Reach":
    """For whoever reaches a URL that stands in a connection, or in a call about one."""
    from delayer.use_cases.owners.reach import Reach

    return Reach(policies=ports.owner_policies)


def permit_test(ports: "Bundle") -> "PermitTest":
    """For the call that tries one."""
    from delayer.use_cases.connections.permit_test import PermitTest
    from delayer.use_cases.flow.view import BlocksInView
    from delayer.wiring.use_cases import spending

    view = BlocksInView(clock=ports.clock, store=ports.blocks, observer=ports.observer)
    return PermitTest(connections=ports.connections, reach=reach(ports), spend=spending(ports), view=view)


def credentials(ports: "Bundle", ask: "AsksForTokens") -> "Credentials":
    """For functions that make requests with the credentials of owners. `ask` is how they reach token endpoints."""
    from delayer.use_cases.connections.credentials import Credentials
    from delayer.use_cases.connections.tokens import Tokens

    tokens = Tokens(
        clock=ports.clock, rows=ports.token_rows, seal=ports.seal, ask=ask, reach=reach(ports), observer=ports.observer
    )
    return Credentials(clock=ports.clock, connections=ports.connections, secrets=ports.secrets, tokens=tokens)
