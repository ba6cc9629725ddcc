"""The targets on one machine, for two processors with the journal on. No input or output here."""

from bench.load.throughput import Throughput
from bench.machine.memory import Memory
from bench.machine.ready import Ready
from bench.measure.lateness import Lateness
from bench.report.targets import Verdict

BESIDE_P99_MS = 60
FAST_P99_MS = 100
SPREAD_SECONDS = 1.5
AT_ONCE_SECONDS = 6.0
POSTS = 450
IN_BATCHES = 2000
WORKER_MB = 15
REST_MB = 150
READY_SECONDS = 3


def at_most(name: str, measured: float, target: float, unit: str) -> Verdict:
    """A figure is not above its target."""
    return Verdict(target=f"{name} ≤ {target:g} {unit}", measured=f"{measured:.4g} {unit}", reached=measured <= target)


def at_least(name: str, measured: float, target: float) -> Verdict:
    """A rate is not below its target."""
    return Verdict(target=f"{name} ≥ {target:,}/s", measured=f"{measured:,.0f}/s", reached=measured >= target)


def of_runs(beside: Lateness, fast: Lateness, spread: Lateness, at_once: Lateness) -> list[Verdict]:
    """Lateness, and how soon a burst is out."""
    return [
        at_most(f"{beside.name}: p99", beside.p99, BESIDE_P99_MS, "ms"),
        at_most(f"{fast.name}: p99", fast.p99, FAST_P99_MS, "ms"),
        at_most(f"{spread.name}: all out", spread.last_seconds, SPREAD_SECONDS, "s"),
        at_most(f"{at_once.name}: all out", at_once.last_seconds, AT_ONCE_SECONDS, "s"),
    ]


def of_posts(posts: Throughput, batches: Throughput, size: int) -> list[Verdict]:
    """Schedules a second."""
    return [
        at_least("schedules in POSTs of one", posts.per_second, POSTS),
        at_least(f"schedules in batches of {size}", batches.per_second * size, IN_BATCHES),
    ]


def of_memory(after: Memory, command_mb: float) -> list[Verdict]:
    """A minute after the largest burst."""
    return [
        at_most(f"memory of each of {after.workers} processes of functions", after.per_worker_mb, WORKER_MB, "MB"),
        at_most("memory of all else", after.rest_mb + command_mb, REST_MB, "MB"),
    ]


def of_ready(ready: Ready) -> Verdict:
    """From the start of the command until it serves."""
    return at_most("python -m local serves", ready.seconds, READY_SECONDS, "s")
