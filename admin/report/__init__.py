"""The offline report: the page of one run as a single HTML file that needs no broker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import report_page as report_page
    from . import run_report as run_report
    from . import saved_report as saved_report
else:
    __getattr__ = part_loader(__name__)
