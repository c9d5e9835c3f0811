"""Logs, provenance, exports and notices of what was written."""
