"""Many clones: ledgers, notes and journal exchanged and mended."""
