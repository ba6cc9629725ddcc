"""How the stack of a template gets into the emulator: the code as archives, then CloudFormation."""
