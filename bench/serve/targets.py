"""The targets of `delayer serve`, for two processors. No input or output here."""

from bench.load.throughput import Throughput
from bench.machine.targets import at_least, at_most
from bench.measure.lateness import Lateness
from bench.report.targets import Verdict

READY_SECONDS = 1.5
REST_MB = 90
MORE_MB = 20  # with a million waiting
POSTS = {8: 900, 32: 1200}  # a second, by clients
IN_BATCHES = {10: 1200, 100: 2500}  # schedules a second, by how many are in one
PAGE_MS = 10
STATUS_MS = 2
SERIES_P99_MS = 1000
BACKED_UP_P99_MS = 100


def of_start(ready: float, memory_mb: float) -> list[Verdict]:
    """On an empty folder."""
    return [
        at_most("delayer serve: ready", ready, READY_SECONDS, "s"),
        at_most("memory at rest", memory_mb, REST_MB, "MB"),
    ]


def of_waiting(count: int, ready: float, memory_mb: float) -> list[Verdict]:
    """With so many schedules waiting."""
    return [
        at_most(f"ready, with {count:,} waiting", ready, READY_SECONDS, "s"),
        at_most(f"memory, with {count:,} waiting", memory_mb, REST_MB + MORE_MB, "MB"),
    ]


def of_posts(posts: Throughput) -> Verdict:
    """One by one."""
    name = f"POST, {posts.clients} clients, p50 {posts.p50_ms or 0:.1f} ms"
    return at_least(name, posts.per_second, POSTS[posts.clients])


def of_batches(batches: Throughput, size: int) -> Verdict:
    """They count by their schedules."""
    name = f"schedules in batches of {size}, {batches.clients} clients"
    return at_least(name, batches.per_second * size, IN_BATCHES[size])


def of_reads(count: int, page: Throughput, status: Throughput) -> list[Verdict]:
    """By one client, with so many stored: the median."""
    return [
        at_most(f"a page of 50, {count:,} stored: p50", page.p50_ms or 0, PAGE_MS, "ms"),
        at_most(f"a status, {count:,} stored: p50", status.p50_ms or 0, STATUS_MS, "ms"),
    ]


def of_lateness(row: Lateness, p99_ms: int) -> Verdict:
    """Held on time: all came, and nearly all in time."""
    verdict = at_most(f"{row.name}: p99", row.p99, p99_ms, "ms")
    return Verdict(target=verdict.target, measured=verdict.measured, reached=verdict.reached and not row.wrong)
