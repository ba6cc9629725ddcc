"""This runs inside the emulator's own process: ministack with corrections, behind a gateway."""
