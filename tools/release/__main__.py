"""The command line is in command.py."""

import sys

from .command import main

sys.exit(main(sys.argv[1:]))
