"""An instance, its history and its changes as the values that are printed."""
