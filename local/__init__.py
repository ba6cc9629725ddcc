"""The whole stack on one machine: an emulator of AWS, the stack of `template.yaml` in it, and a stable address."""
