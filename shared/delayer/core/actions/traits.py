"""What is stored of an action's type with each of its schedules."""

from delayer.core.actions.action_type import ActionType
from delayer.core.firing.message_group import group_number, target_of
from delayer.core.masking.mask import secrets_of
from delayer.core.schedule.definition import Definition
from delayer.core.schedule.schedule import Traits
from delayer.core.schemas.json_text import parsed


def traits_of(action: ActionType, definition: Definition) -> Traits:
    """For a new schedule of this type."""
    target = target_of(definition.action, action.fair_by) if action.fair_by else ""
    return Traits(fair_group=group_number(target), secrets=secrets_of(parsed(action.schema)))
