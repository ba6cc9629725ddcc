"""The functions of delayer-aws, each with the instant (epoch seconds) at which it runs."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from bench.peers.predecessor.algorithm import BUFFER, VISIBILITY_SECONDS, Buffer, delay, is_in_zone
from bench.peers.predecessor.store import Sent, Store

STREAM_BATCH = 100  # Lambda's own

Send = Callable[[str, str], None]  # URL, id


def each_minute(store: Store, now: float) -> None:
    """Scan the table, and delete what is due soon: its REMOVE sends it to the queue."""
    store.delete([schedule_id for schedule_id, at in store.scan() if is_in_zone(at, int(now))])


def on_stream(store: Store, now: float) -> int:
    """Handle one batch of records; their number. A record that is in the zone no more does nothing."""
    records = store.records(STREAM_BATCH)
    in_zone = [record for record in records if is_in_zone(record.at, int(now))]
    store.delete([record.id for record in in_zone if record.kind == "INSERT"])
    store.send(
        [(record.id, record.url, now + delay(record.at, int(now))) for record in in_zone if record.kind == "REMOVE"]
    )
    if records:
        store.pass_records(records[-1].number)
    return len(records)


class Poller:
    """Receives from the queue and publishes. A message is deleted when it was published."""

    def __init__(self, store: Store, send: Send) -> None:
        self.store = store
        self.send = send
        self.buffer: Buffer[Sent] = Buffer()
        self.threads = ThreadPoolExecutor(BUFFER)

    def publish(self, received: list[Sent]) -> int:
        """Publish, all at a time, what the buffer gives out; their number."""
        messages = self.buffer.to_publish(received)
        list(self.threads.map(lambda message: self.send(message.url, message.id), messages))
        self.store.forget(messages)
        return len(messages)

    def receive(self, now: float) -> list[Sent]:
        """Ten at most."""
        return self.store.receive(now, BUFFER, VISIBILITY_SECONDS)
