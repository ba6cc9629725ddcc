"""How the emulator comes to rest, saves what it holds, and puts it back into a new stack."""
