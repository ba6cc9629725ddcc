"""The Celery application, for its workers and its client. Its settings come as variables."""

import json
import os

from celery import Celery

from bench.peers.programs.target import send

app = Celery("peers", broker=os.environ["PEERS_BROKER"])
app.conf.update(json.loads(os.environ["PEERS_SETTINGS"]))


@app.task(name="peers.fire", ignore_result=True)  # type: ignore[untyped-decorator, unused-ignore]
def fire(url: str, schedule_id: str) -> None:
    """The task."""
    send(url, schedule_id)
