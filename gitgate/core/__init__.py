"""Pure values and functions: no git, clock, files or terminal."""
