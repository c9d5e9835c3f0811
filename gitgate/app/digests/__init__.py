"""What is remembered of ledgers that were verified, so that not all are read each time."""
