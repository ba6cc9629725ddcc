"""Schedules and revokes tasks of Celery."""

import os
import time
from datetime import UTC, datetime

import redis

from bench.peers.programs.celery_tasks import app, fire
from bench.peers.programs.commands import serve

ANSWER_SECONDS = 1.0  # for which Celery waits for its workers, by default
STORE = redis.Redis.from_url(os.environ["PEERS_BROKER"])


def schedule(url: str, items: list[tuple[str, int]]) -> int:
    """A task with an ETA for each id and point in time (epoch ms)."""
    with app.producer_pool.acquire(block=True) as producer:
        for schedule_id, due in items:
            eta = datetime.fromtimestamp(due / 1000, UTC)
            fire.apply_async((url, schedule_id), eta=eta, task_id=schedule_id, producer=producer)
    return len(items)


def cancel(schedule_id: str) -> str:
    """Revoke, and ask the worker whether it has heard."""
    replies = app.control.revoke(schedule_id, reply=True, timeout=ANSWER_SECONDS, limit=1)
    return "cancelled" if any("ok" in one for reply in replies for one in reply.values()) else "unanswered"


def waiting() -> int:
    """Messages in Redis that are not acknowledged, or not yet received."""
    return int(STORE.hlen("unacked")) + int(STORE.llen("celery"))


def ready(seconds: float) -> bool:
    """Whether a worker has answered within this time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if app.control.ping(timeout=0.5, limit=1):
            return True
    return False


if __name__ == "__main__":
    serve({"schedule": schedule, "cancel": cancel, "waiting": waiting, "ready": ready})
