"""The checks of a log, beside a ledger and a journal.

- A check is a function from frames of the views to a frame of findings, one a row (findings.py). It writes nothing, and
  collects nothing to the driver.
- Batches in log order, holes and transactions are computed in one place each (log_order.py, transaction_spans.py).
- audit_job.py states what a finding is, runs all checks of a request, and returns their findings.
"""
