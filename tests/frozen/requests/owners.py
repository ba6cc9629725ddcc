"""What belongs to owners: their claim, their policies, what signs, their connections; and the registered actions."""

import json
from typing import Any

from attrs import evolve

from delayer.actions.repository import StoredActions
from delayer.actions.rules import model as action_type
from delayer.actions.rules.model import ActionType
from delayer.actions.rules.registration import Registration
from delayer.connections.model import Connection, ConnectionType, SecretNote, closed, doomed, replaced
from delayer.connections.repository import StoredConnections, StoredTokens
from delayer.connections.rules import TokenRow
from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.aws.secrets import AesGcm, SecretsManager
from delayer.owners.admission import OwnerClaim
from delayer.owners.model import OwnerPolicy, StoredOwnerPolicy
from delayer.owners.ports import DEFAULT
from delayer.owners.repository import StoredOwnerClaim, StoredOwnerPolicies
from delayer.schedule.instants import HOUR, MINUTE
from delayer.signing import rules as of_owner
from delayer.signing.repository import StoredSigningRows
from delayer.signing.rules import Rotation, SigningKeys
from tests.frozen.recorded import Case, Subject, cancelled, refused
from tests.samples import KEY, NOW, OWNER, an_id

CLAIM = OwnerClaim(claim="sub", issuer="https://issuer.example/", before="client_id", issuer_before="", changed_at=NOW)
OWNER_CLAIM = Subject(
    adapter=StoredOwnerClaim,
    made=lambda client: StoredOwnerClaim(store=DynamoStore(client), table="control"),
    cases={
        "owner_claim": lambda claims: claims.owner_claim(),
        "write_owner_claim": lambda claims: claims.write_owner_claim(CLAIM),
    },
)

RULES: dict[str, Any] = {"actions": ("http-request",), "hosts": ("*.example.com",), "series": None, "payloadBytes": 0}
POLICY = StoredOwnerPolicy(policy=OwnerPolicy(rules=RULES), revision=7, changed_at=NOW, by="alice")
OWNER_POLICIES = Subject(
    adapter=StoredOwnerPolicies,
    made=lambda client: StoredOwnerPolicies(store=DynamoStore(client), table="control"),
    cases={
        "owner_policy": lambda policies: policies.owner_policy(OWNER),
        "owner_policy: the default": lambda policies: policies.owner_policy(DEFAULT),
        "write_owner_policy: a first one": lambda policies: policies.write_owner_policy(OWNER, POLICY, 0),
        "write_owner_policy: over another": lambda policies: policies.write_owner_policy(OWNER, POLICY, 6),
        "write_owner_policy: the default": lambda policies: policies.write_owner_policy(DEFAULT, POLICY, 0),
        "remove_owner_policy": lambda policies: policies.remove_owner_policy(OWNER, 7),
        "owners_with_policy": lambda policies: policies.owners_with_policy(),
    },
)

FIRST_KEYS = of_owner.first_keys(KEY, NOW)
SECOND_KEYS = of_owner.rotated_keys(FIRST_KEYS, bytes(range(224, 256)), NOW)
ONCE = of_owner.rotated(Rotation(), NOW)
TWICE = of_owner.rotated(ONCE, NOW + HOUR)
SIGNING = Subject(
    adapter=StoredSigningRows,
    made=lambda client: StoredSigningRows(store=DynamoStore(client), table="control"),
    cases={
        "signing_keys": lambda rows: rows.signing_keys(),
        "write_signing_keys: the first": lambda rows: rows.write_signing_keys(FIRST_KEYS, SigningKeys()),
        "write_signing_keys: over another": lambda rows: rows.write_signing_keys(SECOND_KEYS, FIRST_KEYS),
        "rotation": lambda rows: rows.rotation(OWNER),
        "write_rotation: the first": lambda rows: rows.write_rotation(OWNER, ONCE, Rotation()),
        "write_rotation: over another": lambda rows: rows.write_rotation(OWNER, TWICE, ONCE),
    },
)

SLACK = Registration(
    action=ActionType(type="slack-post", schema='{"description":"é"}', fair_by="channel", payload="{}"),
    stack="arn:aws:cloudformation:eu-west-1:123456789012:stack/reports/1a2b",
    token="1",
    resource="Slack",
    function="arn:aws:lambda:eu-west-1:123456789012:function:slack",
)
ANOTHER = evolve(SLACK, token="2", queue="https://sqs.eu-west-1.amazonaws.com/1/q", function="", resource="")


# As another version may have written it, with other blanks: the condition is what stands there.
STORED = json.dumps(
    [
        {
            "action": json.loads(action_type.encode(SLACK.action)),
            "stack": SLACK.stack,
            "token": SLACK.token,
            "resource": SLACK.resource,
            "function": SLACK.function,
        }
    ]
)
ONE_TYPE = {"Item": {"name": {"S": "actions"}, "types": {"M": {"slack-post": {"S": STORED}}}}}
EMPTY = {"Item": {"name": {"S": "actions"}, "types": {"M": {}}}}
ACTIONS = Subject(
    adapter=StoredActions,
    made=lambda client: StoredActions(store=DynamoStore(client), table="control"),
    cases={
        "actions": lambda actions: actions.actions(),
        "write: the row is made": lambda actions: actions.write("slack-post", (SLACK,), ()),
        "write: a first type": Case(lambda actions: actions.write("slack-post", (SLACK,), ()), (EMPTY,)),
        "write: one more": Case(lambda actions: actions.write("slack-post", (SLACK, ANOTHER), (SLACK,)), (ONE_TYPE,)),
        "write: the last one goes": Case(lambda actions: actions.write("slack-post", (), (SLACK,)), (ONE_TYPE,)),
    },
)

CRM = Connection(
    owner=OWNER,
    name="crm",
    type=ConnectionType.API_KEY,
    secret="s1",
    header="X-Api-Key",
    shown='{"headerName":"X-Api-Key"}',
    created_at=NOW,
    changed_at=NOW,
)
NOTE = SecretNote(owner=OWNER, secret="s1", since=NOW)
SECOND_NOTE = SecretNote(owner=OWNER, secret="s2", since=NOW + 1)
CHANGED = replaced(CRM, evolve(CRM, secret="s2", changed_at=NOW + 1))
CLOSED = closed(CRM)
NO_COUNT = cancelled(*["None"] * 11, "ConditionalCheckFailed")
CONFLICT = refused("TransactionConflictException")
CONNECTIONS = Subject(
    adapter=StoredConnections,
    made=lambda client: StoredConnections(store=DynamoStore(client), table="registry"),
    cases={
        "read": lambda connections: connections.read(OWNER, "crm"),
        "listed": lambda connections: connections.listed(OWNER, "", 50),
        "listed: the next": lambda connections: connections.listed(OWNER, "crm", 50),
        "uses": lambda connections: connections.uses(OWNER, "crm", "", 50),
        "uses: the next": lambda connections: connections.uses(OWNER, "crm", f"000{NOW}#{an_id()}", 50),
        "write: a first one": lambda connections: connections.write(CRM, None, named=NOTE),
        "write: another secret": lambda connections: connections.write(
            CHANGED, CRM, named=SECOND_NOTE, left=doomed(CRM, NOW + 1)
        ),
        "write: it closes": lambda connections: connections.write(CLOSED, CRM),
        "write: it opens again": lambda connections: connections.write(closed(CLOSED, closing=False), CLOSED),
        "remove": lambda connections: connections.remove(CLOSED, doomed(CRM, NOW)),
        "remove: one that was never counted": Case(
            lambda connections: connections.remove(CLOSED, doomed(CRM, NOW)), (NO_COUNT,)
        ),
        "note": lambda connections: connections.note(NOTE),
        "notes": lambda connections: connections.notes(NOW, 50),
        "doom": lambda connections: connections.doom(NOTE),
        "doom: again after a transaction of somebody else": Case(
            lambda connections: connections.doom(NOTE), (CONFLICT,)
        ),
        "forget": lambda connections: connections.forget(NOTE),
        "forget: again after a transaction of somebody else": Case(
            lambda connections: connections.forget(NOTE), (CONFLICT,)
        ),
    },
)

TOKEN = TokenRow(
    owner=OWNER,
    name="crm",
    secret="s1",
    fetched_at=NOW,
    sealed="c2VhbGVk",
    fresh_until=NOW + MINUTE,
    expires_at=NOW + HOUR,
)
FAILED = evolve(TOKEN, sealed="", fresh_until=0, expires_at=0, failure="HTTP 401", revision=2)
TOKENS = Subject(
    adapter=StoredTokens,
    made=lambda client: StoredTokens(store=DynamoStore(client), table="registry"),
    cases={
        "read": lambda tokens: tokens.read(OWNER, "crm"),
        "write: a first one": lambda tokens: tokens.write(TOKEN, None),
        "write: over another": lambda tokens: tokens.write(FAILED, TOKEN),
        "write: over one of a later version": lambda tokens: tokens.write(FAILED, evolve(TOKEN, secret="")),
    },
)

SECRETS = Subject(
    adapter=SecretsManager,
    service="secretsmanager",
    made=lambda client: SecretsManager(secretsmanager=client, prefix="delayer/connections"),
    cases={
        "create": lambda secrets: secrets.create(OWNER, "s1", '{"apiKey":"é"}'),
        "read": lambda secrets: secrets.read(OWNER, "s1"),
        "delete": lambda secrets: secrets.delete(OWNER, "s1"),
    },
)

SEAL = Subject(
    adapter=AesGcm,
    service="secretsmanager",
    made=lambda client: AesGcm(secretsmanager=client, key="delayer/connection-key", clock=lambda: 0.0),
    cases={
        "sealed: the key is read once": lambda seal: [seal.sealed("a token", "about") for _ in range(2)],
        "opened": lambda seal: seal.opened("c2VhbGVk", "about"),
    },
)

SUBJECTS = (OWNER_CLAIM, OWNER_POLICIES, SIGNING, ACTIONS, CONNECTIONS, TOKENS, SECRETS, SEAL)
