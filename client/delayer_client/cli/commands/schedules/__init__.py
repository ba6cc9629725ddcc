"""Commands about schedules."""

from delayer_client.cli.commands.schedules import ending, looking, making, moving, watching

ALL = (making.add, looking.add, ending.add, moving.add, watching.add)
