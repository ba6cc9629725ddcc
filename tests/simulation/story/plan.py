"""What a story is about: its weather, and what its people do. All of it follows from the seed."""

from enum import StrEnum

from attrs import evolve, frozen

from delayer.flow.rules.block import Party
from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND, Millis
from tests.simulation.engine.chance import Chance
from tests.simulation.engine.remote import Deploy, Fault, Harm, Outage, Service
from tests.world import LEAD, PERIOD, START

PATIENT = 0.25  # of the stories have retry policies with long delays, and as many targets that ask for delays
TARGET, OTHER = "target", "other"  # the hosts that schedules go to
PARTIES = (  # whom an operator suspends
    Party(owner="owner", target=""),
    Party(owner="", target=f"http-request {TARGET}"),
    Party(owner="owner", target=f"http-request {OTHER}"),
    Party(owner="another", target=""),
)
CHANGE = "change "  # the keys of PATCH and PUT begin so
HORIZON: Millis = START + 40 * MINUTE  # by then all has been posted, and the weather has done its worst


class Do(StrEnum):
    """What clients, operators and vandals do."""

    POST = "post"
    CANCEL = "cancel"
    PATCH = "patch"
    NAME = "put by name"
    RENAME = "put by that name again"
    CANCEL_LATER = "cancel whatever bears the name"
    VANDAL = "delete the record by hand"
    GARBAGE = "write a row that nobody can read, and delete it"
    NOISE = "send a message that nobody can read"
    STOP = "stop it"
    POST_AGAIN = "post the same once more"
    OTHER_BODY = "post something else with its key"
    NAMESAKE = "post another of its name"
    CANCEL_GROUP = "cancel its group"
    SERIES = "post a series"
    PAUSE = "pause"
    RESUME = "resume"
    END = "delete"
    CHANGE_PAYLOAD = "another payload"
    CHANGE_RULE = "another rule"
    RUN_NOW = "run now"
    BACKFILL = "backfill"
    CANCEL_ONE = "cancel one occurrence"
    MOVE_ONE = "move one occurrence"
    SUSPEND = "suspend an owner or a target, for a while"
    CLOSE = "close all circuits"
    LIMIT = "limit the rate of an owner or a target, or remove the limit"


@frozen(kw_only=True)
class Patience:
    """A retry policy with long delays."""

    first: int  # seconds
    factor: float
    longest: int  # seconds
    age: int  # seconds


@frozen(kw_only=True)
class Wishes:
    """What else a client asks for when it creates a schedule."""

    name: str = ""
    group: str = ""
    key: str = ""  # for idempotency
    within: int = 0  # seconds within which a policy decides the time; 0: the client says the time
    relaxed: bool = False  # in the lane without precision
    drop_after: int = 0  # seconds that it may be late; 0: it is never dropped
    host: str = "target"


@frozen
class Act:
    """One thing that somebody does."""

    at: Millis
    do: Do
    subject: int  # the number of the schedule it is about
    due: Millis = 0  # for what it creates; of a suspension, when it is released
    attempts: int = 3
    patience: Patience | None = None  # for what it creates; None: all but the attempts is left out
    wishes: Wishes = Wishes()  # for what it creates
    rate: str = ""  # of a limit; empty: there is none any more


@frozen
class Dead:
    """A target that does not answer for a while."""

    host: str
    since: Millis
    until: Millis


@frozen(kw_only=True)
class Weather:
    """How bad it gets."""

    rate: float = 0  # of faults, per call
    faults: tuple[Fault, ...] = (Fault.BEFORE,)
    outages: tuple[Outage, ...] = ()
    skew: Millis = 0  # clocks are off by up to this, either way
    repeats: float = 0  # how likely a delivery comes twice
    delays: float = 0  # how likely a delivery takes long
    throttled: float = 0  # how likely Lambda has no function for a batch that SQS has given out
    crowded: bool = False  # an account of ten concurrent executions, of which others use some
    given_out: float = 0  # how likely SQS has given a batch out a thousand times: it comes to the suspects
    ticks: float = 0  # how likely a tick is skipped, doubled or late
    target: float = 0  # how likely the target does not take it
    asks: float = 0  # how likely it then asks for a delay
    operator: float = 0.9  # how likely what is dead-lettered is redriven, else it is discarded
    shards: int = 2
    page: int = 500
    asleep: bool = False  # the minute task never runs: TTL is the last net
    later: Millis = 0  # how long after the end backups are restored, if ever
    alone: bool = False  # there is no operator: after any outage everything has to go on by itself
    deploys: tuple[Deploy, ...] = ()
    killers: tuple[tuple[int, str], ...] = ()  # schedules, and the function that dies of each
    others: bool = True  # there is other traffic than that of the story
    stops: float = 0  # how likely an owner stops what was claimed or has ended, at that moment
    lost: float = 0  # how likely an event of an occurrence never comes to the stepper
    dead: tuple[Dead, ...] = ()
    greedy: bool = False  # another owner keeps the delayer queue over its mark

    @property
    def is_fair(self) -> bool:
        """Nothing goes wrong but what clients and targets bring about: a greedy owner, a message that kills."""
        faults = (
            self.rate,
            self.outages,
            self.skew,
            self.repeats,
            self.delays,
            self.lost,
            self.throttled,
            self.crowded,
            self.given_out,
            self.ticks,
            self.asleep,
            self.deploys,
        )
        return not any(faults)


def weather_of(chance: Chance) -> Weather:
    """Each kind of fault is there or not: a fault that is alone shows other defects than all of them together."""

    def maybe(label: str, chances: float, value: float) -> float:
        return value if chance.part(f"weather {label}") < chances else 0

    asks = 0.5 if chance.part("weather patient") < PATIENT else 0
    stops = maybe("stops", 0.15, 0.4)
    if chance.part("weather fair") < 0.15:
        alone = chance.part("weather fair and alone") < 0.6
        return Weather(
            target=maybe("target", 0.5, 0.1),
            asks=asks,
            shards=chance.one_of("weather shards", (1, 2)),
            alone=alone,
            killers=_killers(chance) if alone else (),
            stops=stops,
            greedy=alone and chance.part("weather greedy") < 0.4,
            dead=_dead(chance),
        )
    drawn = [fault for fault in Fault if fault is not Fault.REPEATED]  # which some of those after an effect become
    faults = tuple(fault for fault in drawn if chance.part(f"weather {fault}") < 0.5) or (Fault.AFTER,)
    if chance.part("weather alone") < 0.5:
        return _alone(chance, faults, asks, stops)
    return Weather(
        rate=maybe("faults", 0.6, chance.one_of("weather rate", (0.01, 0.03, 0.1))),
        faults=faults,
        outages=_outages(chance),
        skew=int(maybe("skew", 0.3, SECOND)),
        repeats=maybe("repeats", 0.4, chance.one_of("weather how many repeats", (0.1, 0.4))),
        delays=maybe("delays", 0.35, chance.one_of("weather how many delays", (0.1, 0.4))),
        lost=maybe("lost", 0.3, chance.one_of("weather how many lost", (0.2, 1))),
        throttled=maybe("throttled", 0.35, 0.4),
        crowded=bool(maybe("crowded", 0.2, 1)),
        given_out=maybe("given out", 0.1, 0.2),
        ticks=maybe("ticks", 0.3, 0.3),
        target=maybe("target", 0.5, chance.one_of("weather how bad a target", (0.1, 0.5))),
        asks=asks,
        shards=chance.one_of("weather shards", (1, 1, 2, 3)),
        page=chance.one_of("weather page", (500, 500, 1)),
        asleep=chance.surprise("weather asleep", 0.03),
        later=int(maybe("later", 0.1, chance.one_of("weather how much later", (DAY, 20 * DAY, 31 * DAY, 40 * DAY)))),
        killers=_killers(chance),
        stops=stops,
        dead=_dead(chance),
    )


def _alone(chance: Chance, faults: tuple[Fault, ...], asks: float, stops: float) -> Weather:
    """Long outages of one service or of two, throttling, bad deploys, killers: and nobody who looks after it."""
    return Weather(
        alone=True,
        rate=chance.one_of("weather rate", (0, 0, 0.01, 0.03)),
        faults=faults,
        outages=_long_outages(chance),
        repeats=chance.one_of("weather how many repeats", (0, 0, 0.1)),
        delays=chance.one_of("weather how many delays", (0, 0, 0.1)),
        lost=chance.one_of("weather lost", (0, 0.3)),
        throttled=chance.one_of("weather throttled", (0, 0.4)),
        crowded=chance.part("weather crowded") < 0.2,
        given_out=chance.one_of("weather given out", (0, 0, 0, 0, 0.2)),
        ticks=chance.one_of("weather ticks", (0, 0, 0.3)),
        target=chance.one_of("weather how bad a target", (0, 0.3)),
        asks=asks,
        shards=chance.one_of("weather shards", (1, 2)),
        page=chance.one_of("weather page", (500, 500, 1)),
        deploys=_deploys(chance),
        killers=_killers(chance),
        stops=stops,
        others=chance.part("weather others") < 0.8,
        greedy=chance.part("weather greedy") < 0.1,
        dead=_dead(chance),
    )


def _dead(chance: Chance) -> tuple[Dead, ...]:
    """In stories that are otherwise fair, too: the other target is to notice nothing of it."""
    dead = []
    for host in (TARGET, OTHER):
        if chance.part(f"{host} is dead") < 0.3 and chance.surprise(f"{host} dies", 1):
            since = START + chance.whole(f"{host} dead since", -MINUTE, 20 * MINUTE)
            length = chance.one_of(f"{host} dead for", (MINUTE, 10 * MINUTE, 10 * MINUTE, 2 * HOUR, 30 * HOUR))
            dead.append(Dead(host, since, since + length))
            dead += _relapse(chance, host, since + length)
    return tuple(dead)


def _relapse(chance: Chance, host: str, since: Millis) -> list[Dead]:
    """It answers for a while, and fails again while what has waited for it comes back."""
    if chance.part(f"{host} dies again") >= 0.4 or not chance.surprise(f"{host} dies again", 1):
        return []
    again = since + chance.whole(f"{host} is well for", SECOND, 7 * MINUTE)
    return [Dead(host, again, again + chance.one_of(f"{host} dead again for", (30 * SECOND, 10 * MINUTE)))]


def _long_outages(chance: Chance) -> tuple[Outage, ...]:
    """None, one, or two that overlap."""
    services = list(Service)
    outages = []
    for number in range(chance.one_of("long outages", (0, 1, 1, 2))):
        service = services.pop(chance.whole(f"long outage {number}", 0, len(services) - 1))
        since = START + chance.whole(f"long outage {number} since", 0, 30 * MINUTE)
        length = chance.one_of(f"long outage {number} length", (2 * MINUTE, 8 * MINUTE, HOUR, 6 * HOUR, 23 * HOUR))
        share = chance.one_of(f"long outage {number} share", (1, 1, 0.9, 0.5))
        if chance.surprise(f"long outage of {service}", 1):
            outages.append(Outage(service, since, since + length, share))
    return tuple(outages)


def _deploys(chance: Chance) -> tuple[Deploy, ...]:
    if chance.part("bad deploy") >= 0.5:
        return ()
    function = chance.one_of("bad deploy of", ("enqueue", "relay", "execute"))
    function = "policy" if chance.part("bad deploy of the policy") < 0.15 else function
    function = "step" if chance.part("bad deploy of the stepper") < 0.15 else function
    harm = chance.one_of("bad deploy harm", tuple(Harm))
    since = START + chance.whole("bad deploy since", 0, 12 * MINUTE)
    length = chance.one_of("bad deploy length", (30 * MINUTE, 30 * MINUTE, DAY if function == "policy" else 3 * HOUR))
    return (Deploy(function, harm, since, since + length),) if chance.surprise("a bad deploy", 1) else ()


def _killers(chance: Chance) -> tuple[tuple[int, str], ...]:
    if chance.part("a killer") >= 0.3 or not chance.surprise("killer", 1):
        return ()
    return ((chance.whole("killer is", 0, 2), chance.one_of("killer of", ("enqueue", "relay", "execute"))),)


def _outages(chance: Chance) -> tuple[Outage, ...]:
    outages = []
    for service in Service:
        if chance.surprise(f"outage of {service}", 0.07):
            since = START + chance.whole(f"outage {service} since", 0, 40 * MINUTE)
            length = chance.one_of(
                f"outage {service} length", (2 * MINUTE, 2 * MINUTE, 8 * MINUTE, HOUR, 8 * HOUR, DAY)
            )
            outages.append(Outage(service, since, since + length))
    return tuple(outages)


def acts_of(chance: Chance) -> list[Act]:
    """A few schedules, and what people do to them, around their firing above all."""
    acts: list[Act] = []
    together = chance.part("all at one time") < 0.3
    patient = chance.part("patient acts") < PATIENT
    for subject in range(chance.whole("schedules", 1, 5)):
        label = f"schedule {subject}"
        at = START + chance.whole(f"{label} posted", 0, 5 * MINUTE)
        due = acts[0].due if together and acts else _due(chance, label, at)
        named = chance.part(f"{label} named") < 0.25
        attempts = chance.whole(f"{label} attempts", 1, 6)
        patience = _patience(chance, label) if patient else None
        wishes = _wishes(chance, label, subject, named)
        posted = Act(at, Do.NAME if named else Do.POST, subject, due, attempts, patience, wishes)
        acts.append(posted)
        acts += _more_acts(chance, label, posted)
        for number in range(chance.one_of(f"{label} acts", (0, 0, 1, 1, 2, 3))):
            what = f"{label} act {number}"
            acts.append(_act(chance, what, subject, named, at, due))
            acts += _once_more(chance, what, acts[-1])
    if chance.part("garbage") < 0.15:
        acts.append(Act(START + chance.whole("garbage at", 0, 20 * MINUTE), Do.GARBAGE, -1))
    if chance.part("noise") < 0.15:
        acts.append(Act(START + chance.whole("noise at", 0, 20 * MINUTE), Do.NOISE, -1))
    return sorted([*acts, *_flow_acts(chance, acts[0].due), *_crowd(chance)], key=lambda act: act.at)


def _flow_acts(chance: Chance, due: Millis) -> list[Act]:
    """What an operator does to owners and targets, around the time of a schedule."""
    acts = []
    for number in range(chance.one_of("suspensions", (0, 0, 0, 1, 1, 2))):
        label = f"suspension {number}"
        at = max(_moment(chance, label, due), START)
        length = chance.one_of(f"{label} length", (SECOND, 20 * SECOND, 3 * MINUTE, HOUR, 6 * HOUR, 30 * HOUR))
        acts.append(Act(at, Do.SUSPEND, chance.whole(f"{label} whom", 0, len(PARTIES) - 1), at + length))
    if chance.part("circuits closed") < 0.2:
        acts.append(Act(START + chance.whole("circuits closed at", MINUTE, HOUR), Do.CLOSE, -1))
    return acts


def _crowd(chance: Chance) -> list[Act]:
    """So many for one target, in so short a time, that it counts when that does not answer."""
    if chance.part("crowd") >= 0.12:
        return []
    host, since = chance.one_of("crowd at", (TARGET, OTHER)), START + chance.whole("crowd since", 0, 10 * MINUTE)
    age = chance.one_of("crowd age", (60, 1800, 8 * 3600, 86_400))
    patience = Patience(first=chance.one_of("crowd first delay", (1, 20)), factor=1.5, longest=900, age=age)
    acts, together = [], chance.part("crowd at one moment") < 0.4
    for number in range(chance.whole("crowd of", 5, 9)):
        due = since + (0 if together else chance.whole(f"crowd {number} due", 0, 2 * MINUTE))
        wishes = Wishes(host=host, name=chance.one_of(f"crowd {number} name", ("", f"crowd-{number}")))
        acts.append(Act(due - 10 * SECOND, Do.POST, 100 + number, due, 9, patience, wishes))
        if chance.part(f"crowd {number} act") < 0.3:
            at = max(due + chance.whole(f"crowd {number} after", -SECOND, 4 * MINUTE), START)
            acts.append(Act(at, chance.one_of(f"crowd {number} do", (Do.CANCEL, Do.PATCH, Do.STOP)), 100 + number, at))
    return acts


def _wishes(chance: Chance, label: str, subject: int, named: bool) -> Wishes:
    drop_after = chance.one_of(f"{label} drop after", (0, 0, 0, 0, 0, 0, 2, 60, 1800))
    relaxed = chance.part(f"{label} relaxed") < 0.12
    host = OTHER if chance.part(f"{label} host") < 0.4 else TARGET
    if named:
        return Wishes(drop_after=drop_after, relaxed=relaxed, host=host)
    within = chance.one_of(f"{label} within", (60, 600, 3600)) if chance.part(f"{label} policy") < 0.12 else 0
    with_name, with_key = (chance.part(f"{label} with {what}") < 0.2 for what in ("name", "key"))
    return Wishes(
        name=name_of(subject) if with_name and not within else "",
        group="" if within else chance.one_of(f"{label} group", ("", "", "", "", "red", "blue")),
        key=f"key-{subject}" if with_key and not within else "",
        relaxed=relaxed and not within,
        within=within,
        drop_after=drop_after,
        host=host,
    )


def name_of(subject: int) -> str:
    """Under which a client puts it."""
    return f"name-{subject}"


def _more_acts(chance: Chance, label: str, posted: Act) -> list[Act]:
    """What is done because of what was asked for; and a stop."""
    acts, wishes = [], posted.wishes
    if chance.part(f"{label} stopped") < 0.2:
        after = chance.one_of(f"{label} stopped after", (SECOND, 20 * SECOND, 20 * MINUTE))
        stopped_at = posted.due + chance.whole(f"{label} stopped at", -LEAD, after)
        acts.append(Act(max(stopped_at, posted.at + 15), Do.STOP, posted.subject))
    if wishes.key:
        again = posted.at + chance.whole(f"{label} again", 1, chance.one_of(f"{label} how soon", (30, MINUTE, HOUR)))
        do = Do.POST_AGAIN if chance.part(f"{label} the same") < 0.7 else Do.OTHER_BODY
        acts.append(evolve(posted, at=again, do=do))
    if wishes.name and chance.part(f"{label} namesake") < 0.5:
        at = max(_moment(chance, f"{label} namesake", posted.due), posted.at + 15)
        due = at + chance.whole(f"{label} namesake due", -2 * SECOND, 20 * MINUTE)
        acts.append(evolve(posted, at=at, do=Do.NAMESAKE, due=due, wishes=Wishes(name=wishes.name)))
    if wishes.group and chance.part(f"{label} group cancelled") < 0.4:
        at = max(_moment(chance, f"{label} group", posted.due), posted.at + 15)
        acts.append(Act(at, Do.CANCEL_GROUP, posted.subject, wishes=wishes))
    return acts


def _patience(chance: Chance, label: str) -> Patience:
    """From minutes to hours; the age may be over before the attempts are."""
    first = chance.one_of(f"{label} first delay", (1, 300, 1200, 2 * 3600, 6 * 3600))
    return Patience(
        first=first,
        factor=chance.one_of(f"{label} factor", (1, 1.5, 4)),
        longest=max(first, chance.one_of(f"{label} longest delay", (900, 3 * 3600, 12 * 3600))),
        age=chance.one_of(f"{label} age", (60, 1800, 8 * 3600, 86_400, 172_800)),
    )


def _due(chance: Chance, label: str, at: Millis) -> Millis:
    kind = chance.part(f"{label} kind")
    spread = chance.part(f"{label} spread")
    if kind < 0.08:
        return at - int(spread * 50 * SECOND)  # overdue
    if kind < 0.3:
        return at + int(spread * 6 * SECOND)
    if kind < 0.45:
        return at + PERIOD + int((spread - 0.5) * 4 * MINUTE)  # around the edge of the delayer period
    if kind < 0.6:
        return START + round(spread * 30) * MINUTE - 1 + int(spread * 997) % 3  # around the change of a minute
    if kind < 0.88:
        return at + int(spread * 32 * MINUTE)
    return at + 20 * MINUTE + int(spread * HOUR)


def _act(chance: Chance, label: str, subject: int, named: bool, posted: Millis, due: Millis) -> Act:
    at = max(_moment(chance, label, due), posted + 15)
    kind = chance.part(f"{label} kind")
    if kind < 0.2:
        return Act(posted + chance.whole(f"{label} vandal", 20, 10 * MINUTE), Do.VANDAL, subject)
    other = at + chance.whole(f"{label} due", -2 * SECOND, 20 * MINUTE)
    if named and kind >= 0.6:
        return Act(at, Do.CANCEL_LATER, subject, other)
    if not named and kind < 0.7:
        return Act(at, Do.CANCEL, subject, other)
    wishes = Wishes(key=f"{CHANGE}{label}" if chance.part(f"{label} key") < 0.6 else "")
    return Act(at, Do.RENAME if named else Do.PATCH, subject, other, wishes=wishes)


def _once_more(chance: Chance, label: str, act: Act) -> list[Act]:
    """A client whose call had no answer yet, or that forgets what it was answered."""
    if not act.wishes.key or chance.part(f"{label} once more") >= 0.6:
        return []
    soon = chance.one_of(f"{label} how soon", (30, MINUTE, HOUR))
    return [evolve(act, at=act.at + chance.whole(f"{label} when", 0, soon))]


def _moment(chance: Chance, label: str, due: Millis) -> Millis:
    """Where the races are: at the claim, at the point in time, while it moves; or anywhere."""
    kind = chance.part(f"{label} moment")
    jitter = chance.whole(f"{label} jitter", -40, 40)
    if kind < 0.35:
        return due - chance.one_of(f"{label} lead", (LEAD, 100, 3 * SECOND)) + jitter
    if kind < 0.5:
        return due + jitter
    if kind < 0.65:
        return due - PERIOD + chance.whole(f"{label} edge", -MINUTE, MINUTE)
    if kind < 0.8:
        return due + chance.whole(f"{label} after", 0, 40 * SECOND)
    return due - chance.whole(f"{label} before", 0, 30 * MINUTE)
