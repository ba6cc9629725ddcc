"""The whole stack on one machine: an embedded AWS, the stack of `template.yaml` in it, a stable address in front."""
