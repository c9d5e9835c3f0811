"""git-gate: human approval gates that live in git."""

__version__ = "0.1.0"
