"""huey with its tasks in SQLite."""

from collections.abc import Mapping

from bench.peers.contender import MEASURES, Memory
from bench.peers.contenders.installed import Installed
from bench.peers.processes import files_mb, memory_mb

THREADS = 4  # a request waits for the target more than for a processor
POLL_SECONDS = 0.01  # of each thread, whether anything is to be done or not
SCHEDULE_SECONDS = 1  # huey looks no more often for what is due
SETTINGS = (
    f"fsync; what is due is looked for each second, its shortest interval; {THREADS} threads, each of which looks into "
    f"the queue every {POLL_SECONDS * 1000:.0f} ms. No setting keeps what a killed consumer has read"
)


class Huey(Installed):
    """One consumer, which is killed, and one client, on one file."""

    fills_per_second = 50.0
    comes_back_seconds = 15
    chunk = 100

    def __init__(self) -> None:
        super().__init__("huey", SETTINGS, MEASURES)

    def begin(self) -> None:
        self.restart()
        self.start(self.client, "-m", "bench.peers.programs.huey_client").answer()

    def variables(self) -> Mapping[str, str]:
        return {"PEERS_FILE": str(self.folder / "tasks.sqlite")}

    def restart(self) -> None:
        polling = f"--delay {POLL_SECONDS} --max-delay {POLL_SECONDS} --backoff 1 --scheduler-interval"
        options = f"--workers {THREADS} --worker-type thread {polling} {SCHEDULE_SECONDS} --quiet"
        command = ("-m", "huey.bin.huey_consumer", "bench.peers.programs.huey_tasks.app")
        self.start(self.worker, *command, *options.split()).answer()

    def memory(self) -> Memory | None:
        used = memory_mb([self.programs[self.worker].process.pid])
        return None if used is None else Memory(processes_mb=used, store_mb=files_mb(self.folder.glob("tasks.sqlite*")))
