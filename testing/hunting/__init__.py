"""hunting: finds the fault that breaks a program, and writes the test that shows it.

- The program runs without faults first. Its requests give the plan: each fault at each request where it can be.
- Every run has a broker of its own. A run is judged by how the program ended and by the events in the topics, compared
  with the run without faults.
- What broke is repeated until it is confirmed, made as small as it gets, and written as rules, as a test and as calls.

docs/hunt.md and docs/hunt-reference.md explain it to users. The names for them are in fauxka.testing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import command_line as command_line
    from . import hunt_command as hunt_command
    from . import hunted_test as hunted_test
else:
    __getattr__ = part_loader(__name__)
