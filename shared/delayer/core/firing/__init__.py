"""What each function on the firing path decides, in the order of the flow."""
