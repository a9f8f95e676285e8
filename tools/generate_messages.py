"""Write protocol/messages/ from the entities of kio.

    python tools/generate_messages.py [--check]

With --check nothing is written, and a folder that differs from what would be written ends in exit code 1.
"""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> int:
    """Run as the command line asks."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from tools.message_generator.command import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
