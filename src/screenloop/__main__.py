"""`python -m screenloop` is the command line."""

from screenloop.cli import main

main()
