"""What a command gathers: the repository at one moment, read lazily and once."""
