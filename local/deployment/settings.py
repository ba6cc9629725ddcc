"""The stack's name, and its parameters on one machine. The command reads them before it imports boto3."""

STACK_NAME = "delayer"
PARAMETERS_ON_ONE_MACHINE = {
    # The functions call this machine's own receiver over loopback, and nobody else reaches the API.
    "AllowPrivateTargets": "true",
    "PrivateTargetsAccount": "000000000000",  # ministack's; AWS has no account with this id
    "ApiAuthorization": "NONE",
    # None of these costs anything here. The doctor reads the alarms, and people the lines.
    "Alarms": "all",
    "LogLevel": "DEBUG",
    # Each is a process here, and all share the processors: more of them at a time would be no faster.
    "RelayConcurrency": "10",
    "ExecutorConcurrency": "10",
}
