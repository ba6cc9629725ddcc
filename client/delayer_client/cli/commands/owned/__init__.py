"""Commands about all else that an owner has, and about this machine."""

from delayer_client.cli.commands.owned import actions, configuring, connections, consoles, groups, signing_secret

ALL = (groups.add, connections.add, actions.add, signing_secret.add, configuring.add, consoles.add)
