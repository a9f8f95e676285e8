"""The commands of fauxka that call the admin API of a running broker. Imported by none of its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import command_line as command_line
    from . import http_broker as http_broker
    from . import journal_text as journal_text
    from . import recipe_commands as recipe_commands
    from . import text_width as text_width
    from . import verdict_text as verdict_text
else:
    __getattr__ = part_loader(__name__)
