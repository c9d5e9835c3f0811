"""Click shells, a dozen lines a command."""
