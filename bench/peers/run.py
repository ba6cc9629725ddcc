"""Measures one scheduler after the other. One that cannot be had is skipped with a sentence."""

from collections.abc import Callable, Mapping

from bench.command.options import Options
from bench.peers import contender
from bench.peers.contender import Contender, Unavailable
from bench.peers.contenders import apscheduler_sqlite, celery_redis
from bench.peers.contenders.delayer import Delayer
from bench.peers.contenders.delayer_serve import DelayerServe
from bench.peers.contenders.huey_sqlite import Huey
from bench.peers.contenders.predecessor import Predecessor
from bench.peers.contenders.procrastinate_postgresql import Procrastinate
from bench.peers.measures import Measurement, Sizes
from bench.peers.outcome import Outcome
from local.command.progress import console
from local.errors import EmulatorError
from local.receiver import Receiver

AT_ONCE = 6  # times as many as are due within a second
CRASH = 2  # as well
WAITING = 200  # as well
LONGEST_STEADY = 15  # seconds
Factory = Callable[[], Contender]


def factories(options: Options) -> Mapping[str, Factory]:
    """Each makes a scheduler that is not started."""
    return {
        "celery": celery_redis.reliable,
        "celery-minute": celery_redis.a_minute,
        "celery-defaults": celery_redis.by_default,
        "apscheduler": apscheduler_sqlite.reliable,
        "apscheduler-defaults": apscheduler_sqlite.by_default,
        "huey": Huey,
        "procrastinate": Procrastinate,
        "delayer-aws": Predecessor,
        "delayer-serve": DelayerServe,
        "delayer": lambda: Delayer(options.parameters),
    }


def sizes_of(options: Options) -> Sizes:
    """In the proportions of the benchmark."""
    is_quick = options.seconds <= LONGEST_STEADY
    return Sizes(
        rate=options.rate,
        seconds=min(options.seconds, LONGEST_STEADY),
        burst=options.burst,
        at_once=AT_ONCE * options.burst,
        crash=CRASH * options.burst,
        cancels=50 if is_quick else 100,
        waiting=WAITING * options.burst,
        fill_seconds=5 if is_quick else 30,
        crash_seconds=10 if is_quick else 600,
    )


def measure_peers(options: Options) -> list[Outcome]:
    """All that the options name."""
    made = factories(options)
    return [measure_one(name, made[name], sizes_of(options)) for name in options.peers]


def measure_one(name: str, make: Factory, sizes: Sizes) -> Outcome:
    """One scheduler, from its start to its end. Its failure to start or to go on is not that of the others."""
    outcome = Outcome(name=name)
    console.print(f"{name}", style="bold")
    try:
        with Receiver() as receiver, make() as entered:
            outcome.settings, outcome.cannot = entered.settings, entered.cannot
            fill_in(outcome, Measurement(contender=entered, receiver=receiver, sizes=sizes))
    except (Unavailable, EmulatorError) as why:
        outcome.skipped = str(why)
        console.print(f"  {name} is left out. {why}", soft_wrap=True, markup=False)
    return outcome


def fill_in(outcome: Outcome, measurement: Measurement) -> None:
    """Measure what this scheduler has."""
    measurement.warm_up()
    wanted = measurement.contender.measures
    for name, measure in (
        (contender.STEADY, measurement.steady),
        (contender.MEANWHILE, measurement.beside_posts),
        (contender.BURST, measurement.burst),
        (contender.AT_ONCE, measurement.at_once),
    ):
        if name in wanted:
            outcome.lateness += measure()
    if contender.CANCEL in wanted:
        outcome.cancels = measurement.cancels()
    if contender.CRASH in wanted:
        outcome.crash = measurement.crash()
    if contender.MEMORY in wanted:
        outcome.growth = measurement.growth()
