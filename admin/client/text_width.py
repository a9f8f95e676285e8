"""The width of the output of commands: that of the terminal."""

from __future__ import annotations

import shutil

# Wide enough for the sequences of a batch next to its producer.
WIDTH = 100
# Narrower lines would break the parts of a diagram that cannot be wrapped; a terminal breaks them itself.
_WIDTH_MIN = 60
# Longer lines are hard to follow from one side of a diagram to the other.
_WIDTH_MAX = 120


def terminal_width() -> int:
    """Return the columns of the terminal, or of COLUMNS, within limits; WIDTH if the output is no terminal."""
    return max(_WIDTH_MIN, min(shutil.get_terminal_size((WIDTH, 0)).columns, _WIDTH_MAX))
