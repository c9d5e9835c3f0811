"""`python -m gitgate`."""

from gitgate.cli.main import main

main()
