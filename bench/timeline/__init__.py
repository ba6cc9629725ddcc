"""Where each millisecond of a firing goes: measured on the stack of this machine, one schedule after the other."""
