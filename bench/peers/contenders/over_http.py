"""Delayer as its clients have it: what is the same wherever it runs."""

import json
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from bench.load import calls
from bench.load.calls import NewSchedule
from bench.load.clients import Client
from bench.load.due_times import SECOND
from bench.load.generator import now
from bench.peers.contender import CANCELLED, TOO_LATE, UNANSWERED
from local.errors import EmulatorError

BATCH = 100  # schedules in one POST
CLIENTS = 2
AN_HOUR = 3600 * SECOND
STILL_TO_COME = {"scheduled", "enqueued", "claimed"}


class OverHttp:
    """Schedules, cancels and looks, by calls of the API."""

    client: Client
    far_ahead = 0  # schedules that only wait

    def schedule(self, url: str, times: Sequence[int]) -> Mapping[str, int]:
        if len(times) == 1:
            return {self.client.post(NewSchedule(due=times[0], target=url)): times[0]}
        batches = [times[start : start + BATCH] for start in range(0, len(times), BATCH)]
        with ThreadPoolExecutor(CLIENTS) as threads:
            done = list(threads.map(lambda batch: self.post(url, batch), batches))
        self.far_ahead += sum(due > now() + AN_HOUR for due in times)
        return {schedule_id: due for one in done for schedule_id, due in one.items()}

    def post(self, url: str, times: Sequence[int]) -> dict[str, int]:
        """One batch; EmulatorError if any of it was refused."""
        news = [NewSchedule(due=due, target=url) for due in times]
        call = calls.post_batch(news)
        response = self.client.send(call)
        if failure := response.failure(call):
            raise EmulatorError(f"A POST of a batch failed: {failure}.")
        results = json.loads(response.body)["results"]
        if refused := [result for result in results if result["status"] != calls.CREATED]:
            raise EmulatorError(f"A schedule of a batch was refused: {refused[0]}.")
        return {result["schedule"]["scheduleId"]: due for result, due in zip(results, times, strict=True)}

    def cancel(self, schedule_id: str) -> str:
        answers = {200: CANCELLED, 409: TOO_LATE}
        return answers.get(self.client.send(calls.delete(schedule_id)).status, UNANSWERED)

    def waiting(self, missing: Collection[str]) -> int:
        return sum(self.state_of(one) in STILL_TO_COME for one in missing)

    def state_of(self, schedule_id: str) -> str:
        """As GET says."""
        response = self.client.send(calls.get(schedule_id))
        return str(json.loads(response.body)["state"]) if response.status == calls.OK else "unknown"
