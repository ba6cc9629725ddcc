"""One story: from its seed to its end."""

from attrs import evolve, field, frozen

from delayer.enqueue import rules as enqueueing
from delayer.flow.rules.block import Block
from delayer.schedule.instants import DAY, HOUR, MINUTE, Millis
from delayer.schedule.tables import RELAXED, SCHEDULES, WAITING
from tests.simulation.engine.chance import Chance, Surprise
from tests.simulation.oracle.invariant import Broken, Invariant
from tests.simulation.story.actors import Actors
from tests.simulation.story.limit_plan import limit_acts_of
from tests.simulation.story.plan import HORIZON, Act, Weather, acts_of, weather_of
from tests.simulation.story.series_plan import series_acts_of
from tests.simulation.system.aws import CONCURRENT, CONCURRENT_IN_A_RUSH
from tests.simulation.system.stack import Stack
from tests.world import START

QUIET: Millis = 3 * DAY + 6 * HOUR  # by then everything has come to its end, whatever the weather was
STEPS = 500_000  # more than any story takes; one that takes more goes round in circles


@frozen(kw_only=True)
class Story:
    """What makes a story what it is: play it again, and the same happens."""

    seed: int
    acts: tuple[int, ...] | None = None  # which of the acts take place; None: all
    surprises: frozenset[Surprise] | None = None  # which of the surprises happen; None: all


@frozen(kw_only=True)
class Played:
    """How it went."""

    story: Story  # with all that took place in it
    broken: Broken | None = None
    steps: int = 0
    log: list[tuple[Millis, str, str]] = field(factory=list)  # when, who, what


class TooLong(Exception):
    """It has taken more steps than it may."""


def play(story: Story, *, aloud: bool = False, at_most: int = 10**9) -> Played:
    """Plays it. `aloud` keeps what happened, for people. What has broken nothing in `at_most` steps breaks nothing."""
    chance = Chance(story.seed, story.surprises)
    lines: list[tuple[Millis, str, str]] = []
    weather, rush = weather_of(chance), limit_acts_of(chance)
    acts = sorted([*acts_of(chance), *series_acts_of(chance), *rush], key=lambda act: act.at)
    taken = tuple(range(len(acts))) if story.acts is None else story.acts

    def log(who: str, what: str) -> None:
        if aloud:
            lines.append((stack.kernel.now, who, what))

    stack = Stack(chance=chance, weather=weather, log=log)
    stack.aws.concurrent = CONCURRENT_IN_A_RUSH if rush else CONCURRENT
    stack.at_most = at_most
    broken = None
    try:
        perform(stack, [acts[number] for number in taken])
    except Broken as error:
        broken = error
        log("", str(error))
    except TooLong:
        log("", "is not played to its end")
    whole = Story(seed=story.seed, acts=taken, surprises=frozenset(chance.happened))
    return Played(story=whole, broken=broken, steps=stack.kernel.steps, log=lines)


def perform(stack: Stack, acts: list[Act]) -> None:
    """What these people do, and all that follows from it, to the end. Raises Broken."""
    actors, kernel = Actors(stack), stack.kernel
    for act in acts:
        kernel.at(act.at, lambda act=act: actors.act(act))  # type: ignore[misc] # mypy cannot infer the default
    stack.aws.ticking = stack.aws.looking_after_series = not stack.weather.asleep
    kernel.at(START + 1, stack.aws.tick)
    if not stack.weather.alone:
        kernel.at(START + 10 * MINUTE, actors.look_after)
    run(stack, HORIZON + _longest_outage(stack.weather))
    stack.others.look()
    stack.chance.calm = True
    if stack.weather.asleep:
        run(stack, START + 9 * DAY)
        stack.aws.expire()
        stack.aws.ticking = stack.has_waiting()  # what its function died of is for the minute task to bring back
    stack.aws.looking_after_series = True
    run(stack, kernel.now + QUIET, until_quiet=True)
    for circuit in stack.watch.flow.circuits():
        _knock(stack, actors, circuit)
    stack.watch.check_end()
    _raise(stack)
    if stack.weather.later:
        _years_later(stack, actors)


def _knock(stack: Stack, actors: Actors, circuit: Block) -> None:
    """A circuit stays until somebody needs its target."""
    at = max([stack.kernel.now, *(one.until for one in stack.weather.dead)])
    stack.kernel.at(at, lambda: actors.knock(circuit))
    run(stack, at + MINUTE)
    run(stack, stack.kernel.now + HOUR, until_quiet=True)


def _years_later(stack: Stack, actors: Actors) -> None:
    """Backups are restored when their ledger rows still stand, or no longer."""
    stack.aws.ticking = False
    run(stack, stack.kernel.now + stack.weather.later)
    stack.aws.expire()
    if progress := stack.control.progress():  # as if the minute task had run all the while
        stack.control.advance(evolve(progress, closed_until=enqueueing.first_open(stack.kernel.now)))
    actors.restore()
    stack.aws.ticking = True
    run(stack, stack.kernel.now + HOUR)
    run(stack, stack.kernel.now + QUIET, until_quiet=True)  # what its function dies of is given up after three days
    stack.watch.check_nothing_waits()
    _raise(stack)


def _longest_outage(weather: Weather) -> Millis:
    ends = [outage.until for outage in weather.outages] + [deploy.until for deploy in weather.deploys]
    return max((until - HORIZON for until in ends), default=0)


def run(stack: Stack, until: Millis, *, until_quiet: bool = False) -> None:
    """Lets everything happen up to an instant, or until nothing is left that could."""
    kernel = stack.kernel
    first = looked_at = kernel.steps
    while kernel.step(until):
        if stack.watch.broken:
            _raise(stack)
        if until_quiet and kernel.steps >= looked_at + 20:
            looked_at = kernel.steps
            if is_quiet(stack):
                return
        if kernel.steps > first + STEPS:
            raise Broken(Invariant.NOTHING_WAITS, "the story does not end")
        if kernel.steps > stack.at_most:
            raise TooLong


def is_quiet(stack: Stack) -> bool:
    """Nothing waits, and everything has its end."""
    return (
        not any(stack.there.records.values())
        and not any(stack.streams[table].unread() for table in (WAITING, RELAXED))
        and not stack.has_waiting()
        and not any(queue.messages for queue in (*stack.queues_of_schedules(), *stack.other_queues()))
        and not stack.streams[SCHEDULES].unread()
        and not stack.watch.series.waiting()
        and all(row.ended for row in stack.there.ledger.values())
        and stack.watch.accepted.keys() <= stack.there.ledger.keys()
    )


def _raise(stack: Stack) -> None:
    if stack.watch.broken:
        raise stack.watch.broken
