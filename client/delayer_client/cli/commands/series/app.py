"""The group that the commands about series are added to."""

from delayer_client.cli.options import group

series = group("series", "Series: schedules that are repeated by a rule.")
