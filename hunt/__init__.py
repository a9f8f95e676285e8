"""hunt: finds the fault that breaks a program, and writes the test that shows it.

- The program runs without faults first. Its requests give the plan: each fault at each request where it can be.
- Every run has a broker of its own. A run is judged by how the program ended and by the events in the topics, compared
  with the run without faults.
- What broke is repeated until it is confirmed, made as small as it gets, and written as rules, as a test and as calls.

docs/hunt.md explains it to users.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .errors import BadHuntOption as BadHuntOption
    from .errors import CannotHunt as CannotHunt
    from .in_process import hunt as hunt
    from .replay import assert_survives as assert_survives
    from .report import report_text as report_text
    from .result import Finding as Finding
    from .result import Result as Result

_PLACES = {
    "BadHuntOption": "errors",
    "CannotHunt": "errors",
    "Finding": "result",
    "Result": "result",
    "assert_survives": "replay",
    "hunt": "in_process",
    "report_text": "report",
}


def __getattr__(name: str) -> object:
    """Import what is used first: the command line lists its commands without a broker."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_PLACES[name]}", __name__), name)
