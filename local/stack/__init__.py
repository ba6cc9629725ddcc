"""The stack on one machine as an object: it starts, uses and ends the emulator's process."""
