"""Named scenarios: files with the steps and the expected result, and the engine that runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..rare_parts import part_loader

if TYPE_CHECKING:
    from . import admin_runner as admin_runner
    from . import all_scenarios as all_scenarios
    from . import command as command
    from . import command_line as command_line
    from . import demo as demo
    from . import doctor as doctor
    from . import report as report
    from . import scenario_list as scenario_list
else:
    __getattr__ = part_loader(__name__)
