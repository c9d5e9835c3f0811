"""Use cases, each gather, decide, apply."""
