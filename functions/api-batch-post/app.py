"""POST /schedules/batch: up to a hundred schedules in one call, each with its own result."""

from typing import Any

from delayer.aws.http import problems, requests, responses
from delayer.aws.http.connections import hinted
from delayer.core.api.admission import admit_batch
from delayer.core.api.cancellation import NameTaken
from delayer.core.api.json_body import KEY, keyed
from delayer.core.api.request import BatchItem, Invalid
from delayer.use_cases.api.accept import Accepted
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("api-batch-post")
owner_of = requests.owner_reader()
accept = use_cases.accept(ports)


@ports.observer.observed
@problems.responds_with_problems(ports.observer)
def handler(event: dict[str, Any], _context: object) -> responses.Response:
    """One invocation."""
    owner, items = owner_of(event), keyed(admit_batch(requests.body_of(event)))
    made = ports.parallel.map(lambda item: problems.respond(ports.observer, lambda: one(item, owner)), items)
    return responses.results(made)


def one(item: BatchItem, owner: str) -> responses.Response:
    """One of them, answered as a POST of its own."""
    if item.errors:
        raise Invalid(item.errors)
    match accept(item.body, owner, item.key):
        case Accepted(schedule_id=schedule_id, point_in_time=point_in_time):
            return hinted(responses.created(schedule_id, point_in_time), item.body)
        case NameTaken(schedule_id):
            return problems.name_taken(schedule_id)
    return problems.key_reused(KEY)
