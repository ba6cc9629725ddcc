"""The order of a run: the far ones first, since they take longest; meanwhile all else."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from delayer_client.operator.credentials import Aws, find_credentials
from delayer_client.operator.errors import NoCredentials, NoStack
from delayer_client.operator.verify.account import AWS_ERRORS, Account
from delayer_client.operator.verify.api import Api, NoAnswer, Signs, WithSignature, WithToken, unsigned
from delayer_client.operator.verify.inbox import Inbox, queue_name
from delayer_client.operator.verify.options import Options
from delayer_client.operator.verify.promises.canary import canary
from delayer_client.operator.verify.promises.cancelling import never_fired, races
from delayer_client.operator.verify.promises.deciding import POLICY, deciding
from delayer_client.operator.verify.promises.failing import redriven, refused
from delayer_client.operator.verify.promises.firing import Waiting, bulk, far, near, seconds_of_far, warm_up
from delayer_client.operator.verify.promises.relaxed import RELAXED, relaxed
from delayer_client.operator.verify.promises.repeating import repeating
from delayer_client.operator.verify.promises.signing import signing
from delayer_client.operator.verify.promises.surroundings import concurrency, events, pollers
from delayer_client.operator.verify.results.findings import Finding, broken, unchecked
from delayer_client.operator.verify.session import Session, Unexpected

TITLES = {
    "concurrency": "What the account allows",
    "events": "What the Region publishes",
    "pollers": "What is paid for",
    "near": "Firing near",
    "bulk": "Firing a batch at one instant",
    "races": "Cancelling at the instant of the claim",
    "refused": "A target that is refused",
    "signatures": "The secret that signs",
    "redrive": "A dead letter and its redrive",
    "series": "A series of one minute",
    "policies": "A time that is decided afterwards",
    "relaxed": "The relaxed lane",
    "far": "Creating what is beyond the delayer period",
    "canary": "The canary and its alarm",
}
WITHOUT_ACCOUNT: dict[str, Callable[[Session], Finding]] = {"refused": refused, "signatures": signing}  # the API alone
FAULTS = (Unexpected, NoAnswer, ValueError, KeyError, *AWS_ERRORS)
LONGEST_CLOCK_DIFFERENCE = 5.0  # seconds


def begin(options: Options, *, folder: Path | None = None, profile: str = "", region: str = "") -> Session:
    """Read the stack with the caller's credentials, and choose how calls are signed."""
    aws, why = None, ""
    try:
        aws = find_credentials(options.url, folder=folder, region=region, profile=profile)
    except NoCredentials as error:
        why = str(error)
    account, why = open_account(options, aws) if aws else (None, why)
    authorization = account.setting("ApiAuthorization", "AWS_IAM") if account else ""
    api = Api(url=options.url, sign=signer(options.token, authorization, aws))
    opened = Session(options=options, api=api, account=account, why_no_account=why)
    opened.bill.has_journal = opened.setting("Lifecycle", "journal") == "journal"
    return opened


def open_account(options: Options, aws: Aws) -> tuple[Account | None, str]:
    """The account, or None and the reason."""
    account = Account(aws=aws, stack=options.stack)
    try:
        account.read(options.url)
    except NoStack as error:
        return None, str(error)
    return account, ""


def signer(token: str, authorization: str, aws: Aws | None) -> Signs:
    """With a token if there is one; signed if the stack wants it, or may want it; otherwise without credentials."""
    if token:
        return WithToken(token=token)
    credentials = aws.session.get_credentials() if aws else None
    if aws is None or credentials is None or authorization in ("NONE", "JWT"):
        return unsigned
    return WithSignature(credentials=credentials, region=aws.region)


def verify(session: Session) -> None:
    """Check all parts; the findings are in the session. What was made is removed in any case."""
    try:
        _verify(session)
    finally:
        with session.step("Removing what was made"):
            left = session.clean_up()
            session.bill.calls = session.api.other_calls
        for one in left:
            session.say(f"    not removed: {one}")


def _verify(session: Session) -> None:
    parts = session.options.parts
    if not (inbox := open_inbox(session)):
        for part in parts:
            if part in WITHOUT_ACCOUNT:
                check(session, part, lambda part=part: [WITHOUT_ACCOUNT[part](session)])  # type: ignore[misc] # called at once
            else:
                session.findings.append(unchecked(part, f"{session.why_no_account}; --skip {part} leaves it out"))
        return
    check(session, "", lambda: warm(session, inbox))
    if not session.findings:
        check_all(session, inbox)


def open_inbox(session: Session) -> Inbox | None:
    """The queue of the run; None, with the reason in the session, if it cannot be made."""
    if session.account is None:
        return None
    if not session.has_action("sqs-send"):
        session.why_no_account = "the parameter Actions leaves out sqs-send, which reaches the queue of this run"
        return None
    pattern = session.setting("SqsTargetNamePattern", "delayer-target-*")
    name = queue_name(pattern, session.run)
    if name is None:
        session.why_no_account = f"SqsTargetNamePattern={pattern} leaves no name for a queue of this run"
        return None
    session.inbox = Inbox(sqs=session.account.client("sqs"), name=name)
    try:
        session.inbox.open()
    except AWS_ERRORS as error:
        session.why_no_account, session.inbox = f"no queue could be made: {error}", None
    return session.inbox


def warm(session: Session, inbox: Inbox) -> list[Finding]:
    """The first schedules; and whether the two clocks can be compared."""
    warm_up(session, inbox)
    difference = session.api.clock_difference()
    if abs(difference) > LONGEST_CLOCK_DIFFERENCE:
        return [broken("the clock of this machine is right", f"it is {difference:+.0f} s off; set it, and try again")]
    return []


def check_all(session: Session, inbox: Inbox) -> None:
    """With the queue, every part can be checked."""
    parts, account = session.options.parts, session.account
    late_queue = Inbox(sqs=inbox.sqs, name=f"{inbox.name}-late")
    beyond: list[Waiting] = []
    if "far" in parts:
        session.say(f"  The far part takes up to {seconds_of_far(session.period)} s: DelayerPeriod and two minutes.")
        check(session, "far", lambda: beyond.append(far(session, inbox)) or [])  # type: ignore[func-returns-value]
    todo = checks(session, inbox, late_queue)
    try:
        for part, of_part in todo.items():
            if part in parts:
                check(session, part, of_part)
        for waiting in beyond:
            with session.step("Waiting for what is beyond the delayer period"):
                session.findings.append(waiting.look(session, inbox))
        if "canary" in parts and account:
            check(session, "canary", lambda: canary(session, account))
        if session.must_not_arrive:
            session.findings.append(never_fired(session, inbox))
    finally:
        fired = sum(len(instants) for instants in inbox.arrivals().values())  # each was sent by an executor
        session.bill.sqs_requests += inbox.requests + late_queue.requests + fired
        late_queue.close()


def checks(session: Session, inbox: Inbox, late_queue: Inbox) -> dict[str, Callable[[], Sequence[Finding]]]:
    """Returns the checks that can be made while the far ones wait, by part. Without the account nothing around the
    stack is known.
    """
    todo: dict[str, Callable[[], Sequence[Finding]]] = {
        "near": lambda: [looked_at(near(session, inbox), session, inbox)],
        "bulk": lambda: [looked_at(bulk(session, inbox), session, inbox)],
        "races": lambda: [races(session, inbox)],
        "refused": lambda: [refused(session)],
        "signatures": lambda: [signing(session)],
        "redrive": lambda: [redriven(session, late_queue)],
        "series": lambda: [repeating(session, inbox)],
        "policies": lambda: [deciding(session, inbox)],
        "relaxed": lambda: relaxed(session, inbox),
    }
    if not session.has_policy(POLICY):
        session.say(f"  The stack has no policy {POLICY}, so none is asked; its parameter Policies can add it.")
        del todo["policies"]
    if not session.has_lane(RELAXED):
        session.say(
            f"  The stack has no {RELAXED} lane, so nothing is scheduled there; its parameter Lanes can add it."
        )
        del todo["relaxed"]
    if not (account := session.account):
        return todo
    around: dict[str, Callable[[Session, Account], Finding]] = {
        "concurrency": concurrency,
        "events": events,
        "pollers": pollers,
    }
    return {part: partial(_of_one, find, session, account) for part, find in around.items()} | todo


def _of_one(find: Callable[[Session, Account], Finding], session: Session, account: Account) -> Sequence[Finding]:
    return [find(session, account)]


def looked_at(waiting: Waiting | Finding, session: Session, inbox: Inbox) -> Finding:
    """A schedule that was created is waited for; a finding that stands already is passed on."""
    return waiting.look(session, inbox) if isinstance(waiting, Waiting) else waiting


def check(session: Session, part: str, of_part: Callable[[], Sequence[Finding]]) -> None:
    """One part, with its progress. A call that fails breaks this part only."""
    with session.step(TITLES.get(part, "Waking the functions")):
        try:
            session.findings += of_part()
        except FAULTS as error:
            session.findings.append(broken(part or "the API accepts a schedule", str(error) or repr(error)))
