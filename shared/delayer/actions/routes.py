"""Answers of the call about actions."""

from collections.abc import Sequence

import msgspec

from delayer.actions.rules.registration import Registration, name_of
from delayer.http.answers import Response, Shown, response


def actions(registrations: Sequence[Registration]) -> Response:
    """200, with the action types. Their schemas go out as they were registered."""
    return response(200, {"actions": [_shown_action(one) for one in registrations]})


def _shown_action(registration: Registration) -> Shown:
    action = registration.action
    body: Shown = {
        "type": action.type,
        "stack": name_of(registration.stack),
        "schema": msgspec.Raw(action.schema.encode()),
        "largestPayload": action.largest_payload,
    }
    return body | ({"payload": msgspec.Raw(action.payload.encode())} if action.payload else {})
