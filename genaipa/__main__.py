"""`python -m genaipa`."""

from genaipa.cli import main

main()
