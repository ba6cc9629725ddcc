"""Reads a body as if it were POSTed, for those who want to know whether that is allowed."""

from collections.abc import Mapping

from attrs import frozen

from delayer.accept.rules.admission import Lanes, Policies, admit
from delayer.actions.rules.model import ActionType
from delayer.http.json_body import fields_of
from delayer.http.problem import Problem
from delayer.owners.admission import WrongPolicy
from delayer.recurrence.times import next_after
from delayer.schedule.instants import Millis
from delayer.schedule.schedule import Definition
from delayer.series.rules.admission import admit_series


@frozen(kw_only=True)
class AsPosted:
    """Reads it as the API does. `actions` by type, and the policies and lanes that the stack has, by name."""

    actions: Mapping[str, ActionType]
    policies: Policies
    lanes: Lanes

    def __call__(self, body: object, now: Millis) -> tuple[Definition, Millis]:
        """With its time, of a series its first one; 0 if it has none. Raises WrongPolicy."""
        if not isinstance(body, str):
            raise WrongPolicy("schedule: the body of a POST, as a text")
        text = body.encode("utf-8", "surrogatepass")
        try:
            if "repeat" in fields_of(text).sent:
                series = admit_series(text, now, self.actions, self.lanes)
                return series.definition, next_after(series.rule, now) or 0
            request = admit(text, now, self.actions, self.policies, self.lanes)
            return request.definition, request.point_in_time
        except Problem as error:
            raise WrongPolicy(f"not a schedule that the API would take: {error}") from error
