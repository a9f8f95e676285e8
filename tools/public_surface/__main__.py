"""Compare the public surface with the recorded one, or record it: `python -m tools.public_surface [--write]`."""

import sys

from .command import run

sys.exit(run(sys.argv[1:]))
