"""What is set once in a process of Spark's Python workers, which runs one task after another."""

from __future__ import annotations

import gc


def spare_imports_from_collection() -> None:
    """Keep what is there already, which is what was imported, out of each later collection of garbage.

    After every task Spark collects all garbage of the worker before it gets the next one (pyspark/daemon.py, 4.2.0),
    and looks each time at everything that pyspark, pandas and pyarrow have defined. Without effect from the second time
    on: what a task leaves behind is collected.
    """
    if not gc.get_freeze_count():
        gc.freeze()
