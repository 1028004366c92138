"""`python -m pybethe` is the command line of `bethe`."""

import sys

from ._engine import command

sys.exit(command(["python -m pybethe", *sys.argv[1:]]))
