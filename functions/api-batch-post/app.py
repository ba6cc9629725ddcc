"""POST /schedules/batch: up to a hundred schedules in one call, each with its own result."""

from functools import partial
from typing import Any

from delayer.aws.http import problems, requests, responses, schedules
from delayer.aws.http.connections import hinted
from delayer.core.api.admission import admit_batch
from delayer.core.api.cancellation import NameTaken
from delayer.core.api.json_body import KEY, BatchItem, keyed
from delayer.core.api.problem import Invalid
from delayer.use_cases.api.accept import Accepted, Answer, Wish
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("api-batch-post")
owner_of = requests.owner_reader()
accept = use_cases.accept_many(ports)


@ports.observer.observed
@problems.responds_with_problems(ports.observer)
def handler(event: dict[str, Any], _context: object) -> responses.Response:
    """One invocation."""
    owner, items = owner_of(event), keyed(admit_batch(requests.body_of(event)))
    answers = iter(accept([Wish(body=item.body, key=item.key) for item in items if not item.errors], owner))
    made = [(item, Invalid(item.errors) if item.errors else next(answers)) for item in items]
    return responses.results([problems.respond(ports.observer, partial(shown, *one)) for one in made])


def shown(item: BatchItem, answer: Answer | Exception) -> responses.Response:
    """One of them, answered as a POST of its own."""
    match answer:
        case Exception():
            raise answer
        case Accepted(schedule_id=schedule_id, point_in_time=point_in_time):
            return hinted(schedules.created(schedule_id, point_in_time), item.body)
        case NameTaken(schedule_id):
            return schedules.name_taken(schedule_id)
    return problems.key_reused(KEY)
