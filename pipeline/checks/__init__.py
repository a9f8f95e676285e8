"""The checks of a log, beside a ledger and a journal.

- A check is a function from frames of the views to a frame of findings, one a row (findings.py). It writes nothing, and
  collects nothing to the driver.
- Batches in log order, holes and transactions are computed in one place each (log_order.py, transaction_spans.py).
- audit_job.py states what a finding is, runs all checks of a request, and returns their findings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import audit_job as audit_job
    from . import baseline as baseline
    from . import finding_kinds as finding_kinds
    from . import range_options as range_options
else:
    __getattr__ = part_loader(__name__)
