"""Bring approved work onto the guarded branch."""
