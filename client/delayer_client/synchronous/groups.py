"""Many schedules at a time."""

from datetime import timedelta

from attrs import frozen

from delayer_client.api.models import Job
from delayer_client.calls import owned
from delayer_client.calls.times import Seconds, seconds
from delayer_client.errors import NotEnded
from delayer_client.synchronous.sending import Sender

LOOK_EVERY: Seconds = 0.5


@frozen
class Groups:
    """The groups of the caller, and the jobs that cancel them."""

    _sender: Sender

    def cancel(self, group: str) -> Job:
        """Begins to cancel all schedules and series of a group; `wait` waits for the counts.

        It is not repeated after a lost answer. Call it again, if nobody has put new ones into the group since.
        """
        return self._sender.send(owned.cancel_group(group))

    def job(self, job_id: str) -> Job:
        """Its progress. Raises NotFound."""
        return self._sender.send(owned.job(job_id))

    def wait(self, job_id: str, timeout: timedelta | Seconds | None = None) -> Job:
        """Waits until the job is done. Raises NotEnded."""
        began = self._sender.now()
        while True:
            found = self.job(job_id)
            if found.state != "running":
                return found
            if timeout is not None and (self._sender.now() - began).total_seconds() > seconds(timeout):
                raise NotEnded(f"The job {job_id} still runs: {found.found} schedules so far.")
            self._sender.sleep(LOOK_EVERY)
