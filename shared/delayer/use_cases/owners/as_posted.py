"""What a body asks for that would be POSTed, for whoever wants to know whether that is allowed."""

from collections.abc import Mapping

from attrs import frozen

from delayer.core.actions.action_type import ActionType
from delayer.core.api.admission import Policies, admit
from delayer.core.api.json_body import fields_of
from delayer.core.api.problem import Problem
from delayer.core.api.series.admission import admit_series
from delayer.core.owners.document import WrongPolicy
from delayer.core.recurrence.times import next_after
from delayer.core.schedule.definition import Definition
from delayer.core.schedule.instants import Millis


@frozen(kw_only=True)
class AsPosted:
    """Reads it as the API does. `actions` by type, and the names of the policies that the stack has."""

    actions: Mapping[str, ActionType]
    policies: Policies

    def __call__(self, body: object, now: Millis) -> tuple[Definition, Millis]:
        """With its time, of a series its first one; 0 if it has none. Raises WrongPolicy."""
        if not isinstance(body, str):
            raise WrongPolicy("schedule: the body of a POST, as a text")
        text = body.encode("utf-8", "surrogatepass")
        try:
            if "repeat" in fields_of(text):
                series = admit_series(text, now, self.actions)
                return series.definition, next_after(series.rule, now) or 0
            request = admit(text, now, self.actions, self.policies)
            return request.definition, request.point_in_time
        except Problem as error:
            raise WrongPolicy(f"not a schedule that the API would take: {error}") from error
