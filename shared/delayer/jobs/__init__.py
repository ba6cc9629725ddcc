"""Groups that are cancelled in the background."""
