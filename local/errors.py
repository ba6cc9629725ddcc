"""The error of everything that runs on one machine."""


class EmulatorError(Exception):
    """The emulator or its stack cannot start or continue. The text is for the user: one sentence that says why."""
