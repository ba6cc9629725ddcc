"""What AWS would bill, counted in the emulator."""
