"""Set-up of a Python worker process of Spark, which runs one task after another."""

from __future__ import annotations

import gc


def freeze_imported_objects() -> None:
    """Exclude all present objects, mostly imported modules, from later garbage collections.

    Spark runs a full collection after every task (pyspark/daemon.py, 4.2.0), which would scan all definitions of
    pyspark, pandas and pyarrow. Only the first call has an effect, so that garbage of tasks is collected.
    """
    if not gc.get_freeze_count():
        gc.freeze()
