"""The asking side: put work up, take it back, wait for the answer."""
