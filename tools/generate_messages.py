"""Write protocol/messages/ from the message definitions of kio.

    python tools/generate_messages.py [--check]

With --check nothing is written, and the exit code is 1 if the folder is not up to date.
"""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> int:
    """Run the command line and return its exit code."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from tools.message_generator.command import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
