"""The result of an audit: totals and first examples as plain data (summary.py), as text, JSON and a page with pictures.

The size of a result does not depend on the number of findings. All text of a log is escaped in the page.
The pictures are drawn here (report_svg.py), because a plotting library makes the page larger and no clearer. Three
pictures with all their rows take 60 KB; with plotly 4.9 MB, with bokeh 1.3 MB, with matplotlib and no titles 227 KB.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import audit_outputs as audit_outputs
    from . import verdict_run as verdict_run
else:
    __getattr__ = part_loader(__name__)
