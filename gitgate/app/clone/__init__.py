"""A clone and its state: set up, and looked at by `doctor`."""
