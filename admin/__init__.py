"""HTTP admin API: routes, request models and the operations behind them, which tests also call in process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..rare_parts import part_loader

if TYPE_CHECKING:
    from . import admin_options as admin_options
    from . import admin_server as admin_server
    from . import admin_tls as admin_tls
    from . import application as application
    from . import client as client
    from . import control as control
    from . import export_folder as export_folder
    from . import http_server as http_server
    from . import kcl_faults as kcl_faults
    from . import metrics as metrics
    from . import operations as operations
    from . import report as report
    from . import rule_file as rule_file
    from . import snapshots as snapshots
    from . import state_watch as state_watch
else:
    __getattr__ = part_loader(__name__)
